// Which files of a folder belong together.
import { describe, expect, it } from 'vitest';
import { pairsOfFolder } from '../../../gateway/tls/certificate-folder.ts';

const files = (...names: string[]) => names.map((name) => ({ name, entries: null }));
const folder = (name: string, ...entries: string[]) => ({ name, entries });

describe('the pairs of a folder', () => {
  it('are certificate and key of one name, in the order of the names', () => {
    expect(pairsOfFolder(files('b.key', 'b.crt', 'a.pem', 'a.key', 'a.ocsp'))).toEqual([
      { cert: 'a.pem', key: 'a.key', ocsp: 'a.ocsp' },
      { cert: 'b.crt', key: 'b.key', ocsp: '' },
    ]);
  });

  it('are what certbot keeps, one folder a name', () => {
    const live = [folder('b.example', 'README', 'cert.pem', 'chain.pem', 'fullchain.pem', 'privkey.pem', 'ocsp.der')];
    expect(pairsOfFolder([...live, ...files('README'), folder('empty')])).toEqual([
      { cert: 'b.example/fullchain.pem', key: 'b.example/privkey.pem', ocsp: 'b.example/ocsp.der' },
    ]);
  });

  it('has one that lacks its key: whoever reads it says so', () => {
    expect(pairsOfFolder(files('a.pem'))).toEqual([{ cert: 'a.pem', key: 'a.key', ocsp: '' }]);
  });

  it('leaves what is hidden, other files, and a .crt beside a .pem', () => {
    const kubernetes = [folder('..data', 'fullchain.pem', 'privkey.pem'), folder('..2026', 'fullchain.pem')];
    expect(
      pairsOfFolder([...kubernetes, ...files('tls.crt', 'tls.key', '.pem', '.x.pem', 'notes.txt', 'y.key')]),
    ).toEqual([{ cert: 'tls.crt', key: 'tls.key', ocsp: '' }]);
    expect(pairsOfFolder(files('a.crt', 'a.pem', 'a.key')).map(({ cert }) => cert)).toEqual(['a.pem']);
  });
});
