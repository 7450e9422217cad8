// Faults of MySQL: which are worth another try, and what the log may say of them.
import { expect, it } from 'vitest';
import { describeFault, isPassing } from '../../../gateway/registration/mysql-fault.ts';

const fault = (message: string, code?: string) => Object.assign(new Error(message), code === undefined ? {} : { code });

it.each([
  [fault('Deadlock found when trying to get lock', 'ER_LOCK_DEADLOCK'), true],
  [fault('Connection lost: The server closed the connection.', 'PROTOCOL_CONNECTION_LOST'), true],
  [fault("Can't add new command when connection is in closed state"), true],
  [fault('connect ECONNREFUSED 127.0.0.1:3306', 'ECONNREFUSED'), false],
  [fault('Unknown column', 'ER_BAD_FIELD_ERROR'), false],
  ['text', false],
])('%s may pass: %s', (error, expected) => {
  expect(isPassing(error)).toBe(expected);
});

it.each([
  [
    fault("Access denied for user 'weir'@'10.0.0.5' (using password: YES)", 'ER_ACCESS_DENIED_ERROR'),
    'ER_ACCESS_DENIED_ERROR: Access denied for user (user) (using password: YES)',
  ],
  [fault('connect ECONNREFUSED 127.0.0.1:3306', 'ECONNREFUSED'), 'connect ECONNREFUSED 127.0.0.1:3306'],
  // Of a name with several addresses Node tells the code alone.
  [fault('', 'ECONNREFUSED'), 'ECONNREFUSED'],
  [fault('Pool is closed.'), 'Pool is closed.'],
  ['text', 'text'],
])('%s is told as %j', (error, sentence) => {
  expect(describeFault(error)).toBe(sentence);
});
