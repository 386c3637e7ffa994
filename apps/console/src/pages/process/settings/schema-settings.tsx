import { Button } from '../../../parts/button.tsx'
import { Card } from '../../../parts/page.tsx'
import { jsonOf } from '../../../rules/json-text.ts'
import { useMay } from '../../../session/session-context.ts'
import { CodeField } from '../code-field.tsx'
import type { SettingsPartProps } from '../settings-tab.tsx'
import { settingNames } from './setting-names.ts'

const STARTING_POINT = {
  type: 'object',
  properties: { name: { type: 'string', title: 'Name', description: 'Who is greeted' } },
  required: ['name'],
}

const HEIGHT = { min: 260, max: 480 }
const NONE: never[] = []

/** The JSON Schema that parameters are held against, and forms are made from. */
export function SchemaSettings({ values, set, faultAt }: SettingsPartProps) {
  const mayBuild = useMay('build')
  const read = jsonOf(values.schema)
  return (
    <Card
      title="Parameters"
      actions={
        values.schema === '' && (
          <Button onClick={() => set({ schema: JSON.stringify(STARTING_POINT, undefined, 2) })}>Begin one</Button>
        )
      }
    >
      <CodeField
        label={settingNames.schema}
        language="json"
        hint="A JSON Schema. Forms are made from it; the settings of the team say whether runs that break it are refused."
        fault={faultAt('/parametersSchema')}
        faults={'fault' in read ? [read.fault] : NONE}
        value={values.schema}
        onChange={(schema) => set({ schema })}
        readOnly={!mayBuild}
        height={HEIGHT}
      />
    </Card>
  )
}
