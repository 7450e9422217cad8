// What discovery says of a service: its instances as registered, and the endpoints they make.

/** `passing` and (where the source accepts it) `warning` may take traffic; the others never do. */
export type InstanceStatus = 'passing' | 'warning' | 'critical' | 'maintenance';

/** One registration of a service, checked: the host is an IP literal or a DNS name, the port is 1..65535. */
export interface Instance {
  /** Unique for the service: where a source's IDs are unique per node only, `node/id`. */
  readonly id: string;
  readonly host: string;
  readonly port: number;
  /** 0..65535; 0 takes no traffic. */
  readonly weight: number;
  readonly status: InstanceStatus;
  readonly tags: readonly string[];
  readonly meta: Readonly<Record<string, string>>;
}

/** One `address:port` of a service: the unit of choosing, of ejection and of upstream connections. */
export interface Endpoint {
  /** `10.0.0.5:8080` or `[::1]:8080`; unique in its service. */
  readonly key: string;
  readonly host: string;
  readonly port: number;
  readonly weight: number;
  readonly status: InstanceStatus;
  /** Whether its source lets it take traffic (its status is accepted; its weight may still be 0). */
  readonly healthy: boolean;
  readonly tags: readonly string[];
  readonly meta: Readonly<Record<string, string>>;
  /** The IDs of the instances registered at this address, sorted. */
  readonly instances: readonly string[];
}
