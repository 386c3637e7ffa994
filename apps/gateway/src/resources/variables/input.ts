import { z } from '@hono/zod-openapi'
import { optionalFlag, text } from '../../rest/fields.ts'

export const createVariableInput = z
  .object({ key: text().nullish(), value: text().nullish(), isSensitive: optionalFlag() })
  .openapi('CreateTeamVariableInput', {
    description: 'Without a key it is refused',
    example: { key: 'SHOP_URL', value: 'https://shop.example', isSensitive: false },
  })

export const updateVariableInput = z
  .object({
    key: text().nullish(),
    value: text().nullish().openapi({ description: 'The ****** that a sensitive value is read as keeps that value' }),
    isSensitive: optionalFlag().openapi({ description: 'Fixed at creation: another value is refused' }),
  })
  .openapi('UpdateTeamVariableInput', { example: { value: 'https://shop.example/v2' } })
