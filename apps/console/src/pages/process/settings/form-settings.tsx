import { Field } from '../../../parts/field.tsx'
import { Card } from '../../../parts/page.tsx'
import { TagField } from '../tag-field.tsx'
import type { SettingsPartProps } from '../settings-tab.tsx'
import { settingNames } from './setting-names.ts'
import styles from '../tab.module.css'

interface Props extends SettingsPartProps {
  team: string
  slug: string
}

/** The form of a process: whether it has one, which version it runs, and who may submit it. */
export function FormSettings({ values, set, faultAt, team, slug }: Props) {
  return (
    <Card title="Form">
      <label className={styles.check}>
        <input type="checkbox" checked={values.hasForm} onChange={(event) => set({ hasForm: event.target.checked })} />
        <span>
          The process has a form, made from its schema.{' '}
          <span className={styles.soft}>Who may run it can submit the form.</span>
        </span>
      </label>
      {values.hasForm && (
        <>
          <div className={styles.fields}>
            <TagField
              team={team}
              identifier={slug}
              label={settingNames.formTag}
              hint="A tag, an id or an alias. Empty: the current source."
              fault={faultAt('/settings/formsConfig/tag')}
              value={values.formTag}
              onChange={(formTag) => set({ formTag })}
            />
            <Field
              label={settingNames.frameAncestors}
              hint="Origins such as https://example.com, one a line; at most 20."
              fault={faultAt('/settings/formsConfig/frameAncestors')}
            >
              <textarea
                data-code
                rows={2}
                spellCheck={false}
                value={values.frameAncestors}
                onChange={(event) => set({ frameAncestors: event.target.value })}
              />
            </Field>
          </div>
          <label className={styles.check}>
            <input
              type="checkbox"
              checked={values.isPublic}
              onChange={(event) => set({ isPublic: event.target.checked })}
            />
            <span>
              Anybody with the link may submit it, too.{' '}
              <span className={styles.soft}>
                The link opens this form alone, and shows the answer to what was submitted.
              </span>
            </span>
          </label>
        </>
      )}
    </Card>
  )
}
