// Who a client is by its certificate.
import { describe, expect, it } from 'vitest';
import { identityLines } from '../../../../gateway/proxy/front/client-identity.ts';

const CERTIFICATE = { raw: Buffer.from('der'), fingerprint256: 'AB:CD' };

describe('the field lines of a certificate', () => {
  it.each([
    ['O=Weir\nCN=shop', 'CN=shop,O=Weir'],
    ['CN=größe', 'CN=gr\\C3\\B6\\C3\\9Fe'],
    // Node gives no text at all where the names stand in the subjectAltName alone.
    [undefined, ''],
  ])('of the subject %j name %s', (subject, expected) => {
    expect(identityLines({ ...CERTIFICATE, subject })).toBe(
      `Client-Cert: :ZGVy:\r\nX-Client-Cert-Subject: ${expected}\r\nX-Client-Cert-Fingerprint: abcd\r\n`,
    );
  });
});
