import { Field } from '../../../parts/field.tsx'
import { Card } from '../../../parts/page.tsx'
import type { SettingsPartProps } from '../settings-tab.tsx'
import { settingNames } from './setting-names.ts'

/** What a process is called and found by. */
export function GeneralSettings({ values, set, faultAt }: SettingsPartProps) {
  return (
    <Card title="General">
      <Field label={settingNames.name} fault={faultAt('/name')}>
        <input required value={values.name} onChange={(event) => set({ name: event.target.value })} />
      </Field>
      <Field
        label={settingNames.slug}
        hint="In addresses. Another one changes those of its webhook and its form, and what calls it by its slug finds it no more."
        fault={faultAt('/slug')}
      >
        <input
          required
          spellCheck={false}
          autoComplete="off"
          value={values.slug}
          onChange={(event) => set({ slug: event.target.value })}
        />
      </Field>
      <Field label={settingNames.description} fault={faultAt('/description')}>
        <textarea rows={3} value={values.description} onChange={(event) => set({ description: event.target.value })} />
      </Field>
      <Field label={settingNames.tags} hint="With commas between." fault={faultAt('/tags')}>
        <input autoComplete="off" value={values.tags} onChange={(event) => set({ tags: event.target.value })} />
      </Field>
    </Card>
  )
}
