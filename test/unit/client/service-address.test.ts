import { describe, expect, it } from 'vitest';
import { ServiceAddresses } from '../../../gateway/client/service-address.ts';
import { WeirError } from '../../../gateway/client/weir-error.ts';

const orders = { host: 'order-service', protocol: 'http' as const };
const billing = { host: 'billing.internal', protocol: 'https' as const };
const addresses = new ServiceAddresses([orders, billing]);

describe('the address of a service', () => {
  it.each([
    ['http://order-service', orders],
    ['http://order-service/', orders],
    ['http://Order-Service', orders],
    ['HTTP://order-service', orders],
    ['http://order-service:80', orders],
    ['https://billing.internal', billing],
    ['https://billing.internal:443', billing],
  ])('is %s', (origin, service) => {
    expect(addresses.find(origin)).toBe(service);
  });

  it('may be a URL', () => {
    expect(addresses.find(new URL('http://order-service/orders?x#y'))).toBe(orders);
  });

  it.each([
    'http://example.com',
    'http://order-service.example.com',
    'http://order-services',
    'http://127.0.0.1:8080',
    'http://[::1]:8080',
    'http://someone@order-service',
    'order-service',
    '',
    undefined,
  ])('is not %s', (origin) => {
    expect(addresses.find(origin)).toBeUndefined();
  });

  it.each([
    ['http://order-service:8080', 'order-service:8080 has a port'],
    ['http://order-service:443', 'order-service:443 has a port'],
    ['https://order-service', 'order-service does not speak https: its address is http://order-service/'],
    ['http://billing.internal', 'billing.internal does not speak http: its address is https://billing.internal/'],
    ['ftp://order-service', 'order-service does not speak ftp'],
  ])('is refused as %s', (origin, why) => {
    const refused = addresses.find(origin);
    expect(refused).toBeInstanceOf(WeirError);
    expect(refused).toMatchObject({ code: 'WEIR_BAD_ADDRESS', message: expect.stringContaining(why) });
  });
});
