// Checks a text as gateway.yaml or as a route file, without a file.
import { readDocument } from '../../../gateway/config/document.ts';
import type { Environment } from '../../../gateway/config/environment.ts';
import { gatewaySchema } from '../../../gateway/config/gateway-schema.ts';
import { gatewayJsonSchema, routeJsonSchema } from '../../../gateway/config/json-schema.ts';
import { formatProblem } from '../../../gateway/config/problem.ts';
import { routeSchema } from '../../../gateway/config/route-schema.ts';
import { type Validated, validate } from '../../../gateway/config/validate.ts';

export function checkGateway(text: string, environment: Environment = {}) {
  const document = readDocument('g.yaml', text, environment);
  return validate(document, { schema: gatewaySchema, jsonSchema: gatewayJsonSchema });
}

export function checkRoute(text: string, environment: Environment = {}) {
  const document = readDocument('r.yaml', text, environment);
  return validate(document, { schema: routeSchema, jsonSchema: routeJsonSchema });
}

/** The value, or an error with all problems. */
export function valid<Value>(result: Validated<Value>): Value {
  if (result.ok) return result.value;
  throw new Error(problemLines(result).join('\n'));
}

/** Every problem as its line for people; none if all is valid. */
export function problemLines(result: Validated<unknown>): string[] {
  return result.ok ? [] : result.problems.map(formatProblem);
}
