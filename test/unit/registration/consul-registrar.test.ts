// What is registered with Consul.
import { expect, it } from 'vitest';
import { consulRegistration } from '../../../gateway/registration/consul-registrar.ts';

const web = {
  service: 'web',
  instance: 'web-1',
  address: '10.0.0.5',
  port: 8080,
  weight: 4,
  tags: ['v2', 'blue'],
  meta: { zone: 'a' },
};
const ttl = { kind: 'heartbeat', intervalMs: 5000, ttlMs: 15_000 } as const;

it('is the weight, a TTL, and when to forget it', () => {
  expect(consulRegistration({ instance: web, check: ttl, deregisterAfterMs: 60_000 }, true)).toEqual({
    ID: 'web-1',
    Name: 'web',
    Address: '10.0.0.5',
    Port: 8080,
    Tags: ['v2', 'blue'],
    Meta: { zone: 'a' },
    Weights: { Passing: 4, Warning: 1 },
    Check: {
      Name: 'web by weir register',
      TTL: '15000ms',
      DeregisterCriticalServiceAfter: '60000ms',
      Status: 'passing',
    },
  });
});

it('is the path that the agent asks for, which may take no longer than until it asks again', () => {
  const instance = { ...web, address: '2001:db8::1' };
  const check = { kind: 'http', path: '/health', intervalMs: 10_000 } as const;
  const registration = consulRegistration({ instance, check, deregisterAfterMs: 90_000 }, false);
  expect(registration.Check).toEqual({
    Name: 'web by weir register',
    HTTP: 'http://[2001:db8::1]:8080/health',
    Interval: '10000ms',
    Timeout: '5000ms',
    DeregisterCriticalServiceAfter: '90000ms',
    Status: 'critical',
  });
  const often = consulRegistration({ instance, check: { ...check, intervalMs: 2000 }, deregisterAfterMs: 1 }, true);
  expect(often.Check).toMatchObject({ Interval: '2000ms', Timeout: '2000ms' });
});

it('is weight 0 in the meta, for Consul itself has none', () => {
  const instance = { ...web, weight: 0 };
  expect(consulRegistration({ instance, check: ttl, deregisterAfterMs: 60_000 }, true)).toMatchObject({
    Meta: { zone: 'a', weight: '0' },
    Weights: { Passing: 1, Warning: 1 },
  });
});
