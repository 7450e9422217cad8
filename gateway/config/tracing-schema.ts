// The tracing section of gateway.yaml: where spans go, and of how many requests.
import { z } from 'zod';
import { isHost } from '../core/address.ts';
import { pattern, section, text } from './fields.ts';
import { fieldMap, rewritableName } from './http-fields.ts';

/** Where a collector takes traces by OTLP over HTTP unless told otherwise. */
const TRACES_PATH = '/v1/traces';

const otlpUrl = text('a URL like http://127.0.0.1:4318, without user, query and #', (written) => {
  const url = /^https?:\/\/[^\s\\?#]+$/i.test(written) ? URL.parse(written) : null;
  if (url === null || url.username !== '' || url.password !== '') return undefined;
  if (!isHost(url.hostname.replace(/^\[(.*)\]$/, '$1'))) return undefined;
  if (url.pathname === '/') url.pathname = TRACES_PATH;
  return url.href;
});

/** Fractions matter here: a busy gateway is well seen by a thousandth of its requests. */
const share = text('a share like 1% or 0.1%, at most 100%', (written) => {
  const [, number] = /^(\d{1,3}(?:\.\d{1,6})?)%$/.exec(written) ?? [];
  return number === undefined || Number(number) > 100 ? undefined : Number(number);
});

const otlp = section({
  otlp: otlpUrl.describe(`The collector, by OTLP over HTTP with JSON; without a path ${TRACES_PATH} is meant.`),
  sample: share
    .prefault('1%')
    .describe('Of how many requests spans are recorded, where no trusted proxy has decided that.'),
  headers: fieldMap(rewritableName).prefault({}).describe('Fields that the collector is sent besides, like a token.'),
  serviceName: pattern('visible text of at most 255 characters', /^(?!\s)[^\p{Cc}]{1,255}(?<!\s)$/u)
    .prefault('weir')
    .describe('The name of this gateway in traces (service.name).'),
}).transform(({ otlp: url, sample, headers, serviceName }) => ({ url, samplePercent: sample, headers, serviceName }));

/** null where it is off. */
export const tracing = z
  .union([z.literal('off'), otlp], { error: 'off, or a mapping with otlp, sample, headers, serviceName' })
  .prefault('off')
  .transform((written) => (written === 'off' ? null : written));
