// The fields that only Weir may give to a service.
import { describe, expect, it } from 'vitest';
import { ownFields, userFieldOf } from '../../../gateway/access/own-fields.ts';

describe('the fields of identity', () => {
  it.each(['X-User-Id', 'x_user_id', 'x-user_id'])('are all spellings of %s that a service may read as one', (name) => {
    const spellings = ['x-user-id', 'x-user_id', 'x_user-id', 'x_user_id'];
    expect([...ownFields([name])].toSorted()).toEqual(spellings.toSorted());
  });
});

describe('the field that names the user', () => {
  it.each(['x-user-id', 'remote_user', 'x-auth-request-user', 'x-forwarded-email', 'x-username', 'user'])(
    'is %s, where it is the only one that is told',
    (name) => {
      expect(userFieldOf([name])).toBe(name);
    },
  );

  it('is none of several, and of none', () => {
    expect(userFieldOf(['x-user', 'x-roles'])).toBeNull();
    expect(userFieldOf([])).toBeNull();
  });

  it.each(['authorization', 'cookie', 'x-user-token', 'x_api_key', 'x-amzn-oidc-data', 'x-auth', 'x-user-jwt'])(
    'is not %s, whose value would let the readers of a log in',
    (name) => {
      expect(userFieldOf([name])).toBeNull();
    },
  );
});
