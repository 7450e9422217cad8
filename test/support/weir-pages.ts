// What a gateway prints and shows, as types: its log, its access log and /debug/upstreams.
import type { ServiceDocument } from '../../gateway/admin/upstreams-document.ts';
import type { AccessRecord } from '../../gateway/core/access-record.ts';

export interface LogLine {
  readonly time: string;
  readonly level: string;
  readonly msg?: string;
  readonly [key: string]: unknown;
}

export interface AccessLine extends AccessRecord {
  readonly kind: 'access';
  readonly time: string;
  readonly worker: number;
}

export interface UpstreamsPage {
  readonly gateway: {
    readonly pid: number;
    readonly leader: { readonly worker: number | null; readonly term: number };
    readonly workers: readonly {
      readonly id: number;
      readonly leader: boolean;
      readonly snapshot: number;
      readonly connections: number;
    }[];
  };
  readonly snapshot: { readonly version: number; readonly from: string | null };
  readonly services: readonly ServiceDocument[];
}
