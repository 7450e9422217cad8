// Who may come in by a route, as its file says it: all defaults filled in.

/** The address, the credentials and the origins that a route asks for. */
export interface AccessRules {
  /** Networks; empty = everybody. */
  readonly allow: readonly string[];
  /** Networks; they win over `allow`. */
  readonly deny: readonly string[];
  readonly auth: AuthRules | null;
  readonly cors: CorsRules | null;
}

export type AuthRules = BasicRules | JwtRules | ForwardRules;

/** A file that is a part of its route: read when the route is loaded. */
export interface FilePart {
  /** As it is written, relative to the route file. */
  readonly file: string;
  readonly content: Uint8Array;
}

/** User name and password (RFC 7617). */
export interface BasicRules {
  readonly kind: 'basic';
  readonly users: FilePart;
  readonly realm: string;
  /** The lower-case name of the field that tells the service who it is. */
  readonly userHeader: string;
  /** Whether the service gets the Authorization field as well. */
  readonly passCredentials: boolean;
}

/** A bearer token (RFC 6750) that is a signed JWT (RFC 7519). */
export interface JwtRules {
  readonly kind: 'jwt';
  readonly jwks: KeySource;
  readonly realm: string;
  /** What `iss` must be; null = anything. */
  readonly issuer: string | null;
  /** What `aud` must be or have among its values; null = anything. */
  readonly audience: string | null;
  readonly algorithms: readonly string[];
  /** Claims by name, each with the lower-case name of the field that tells it to the service. */
  readonly claims: Readonly<Record<string, string>>;
}

/** Where the JSON Web Key Set (RFC 7517) comes from. */
export type KeySource = { readonly kind: 'url'; readonly url: string } | ({ readonly kind: 'file' } & FilePart);

/** Another service that decides. */
export interface ForwardRules {
  readonly kind: 'forward';
  readonly url: string;
  readonly timeoutMs: number;
  /** Lower-case names of the client's fields that the service is given. */
  readonly requestHeaders: readonly string[];
  /** Lower-case names of the fields of its answer that go on with the request. */
  readonly responseHeaders: readonly string[];
}

/** Which pages of other origins may read the answers (the Fetch standard). */
export interface CorsRules {
  /** Origins, `https://*.example.com`, or `*`; at least one. */
  readonly origins: readonly string[];
  /** `*` = those that are asked for. */
  readonly methods: readonly string[];
  /** `*` = those that are asked for. */
  readonly requestHeaders: readonly string[];
  readonly exposeHeaders: readonly string[];
  readonly credentials: boolean;
  readonly maxAgeMs: number;
}
