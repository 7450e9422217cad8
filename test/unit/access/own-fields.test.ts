// The fields that only Weir may give to a service.
import { describe, expect, it } from 'vitest';
import { ownFields } from '../../../gateway/access/own-fields.ts';

describe('the fields of identity', () => {
  it.each(['X-User-Id', 'x_user_id', 'x-user_id'])('are all spellings of %s that a service may read as one', (name) => {
    const spellings = ['x-user-id', 'x-user_id', 'x_user-id', 'x_user_id'];
    expect([...ownFields([name])].toSorted()).toEqual(spellings.toSorted());
  });
});
