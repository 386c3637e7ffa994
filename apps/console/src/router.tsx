import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Navigate,
  type AnyRoute,
} from '@tanstack/react-router'
import { HomePage } from './pages/home/home-page.tsx'
import { Loading } from './parts/page-states.tsx'
import type { CurlCall } from './rules/read-curl.ts'
import { Root } from './shell/root.tsx'
import { Frame } from './shell/frame.tsx'
import { FirstTeam } from './shell/first-team.tsx'
import { NoSuchPage } from './shell/no-such-page.tsx'
import { FailedPage } from './shell/failed-page.tsx'
import { FindExecution } from './shell/find-execution.tsx'

/** What stands behind the `?` of an address, as the pages keep it: tab, filters, cursor, what is compared. */
type Search = Record<string, string | number | boolean | undefined>
const anySearch = (search: Record<string, unknown>): Search => search as Search

const root = createRootRoute({
  component: Root,
  notFoundComponent: NoSuchPage,
})
const start = createRoute({ getParentRoute: () => root, path: '/', component: FirstTeam })
const found = createRoute({ getParentRoute: () => root, path: '/x/$executionId', component: FindExecution })
const team = createRoute({
  getParentRoute: () => root,
  path: '/t/$team',
  component: Frame,
  notFoundComponent: NoSuchPage,
})

type Load = Parameters<typeof lazyRouteComponent>[0]

/** What is loaded when it is first shown. */
function lazy(load: Load, name: string) {
  const loadOrSay: Load = () =>
    load().catch((error: Error) => {
      // By the browser's own words the router would load all anew, in vain without a connection.
      throw navigator.onLine ? error : new Error(`No connection: ${error.message}`, { cause: error })
    })
  return lazyRouteComponent(loadOrSay, name)
}

/** A page of a team, loaded when it is first opened. */
function page<Path extends string>(path: Path, load: Load, name: string) {
  return createRoute({
    getParentRoute: () => team,
    path,
    validateSearch: anySearch,
    component: lazy(load, name),
  })
}

const process = createRoute({
  getParentRoute: () => team,
  path: 'processes/$slug',
  component: lazy(() => import('./pages/process/process-page.tsx'), 'ProcessPage'),
})

/** A tab of a process. */
function tab<Path extends string>(path: Path, load: Load, name: string) {
  return createRoute({
    getParentRoute: () => process,
    path,
    validateSearch: anySearch,
    component: lazy(load, name),
  })
}

/** A form, which also has visitors who only have its link. */
const form = createRoute({
  getParentRoute: () => root,
  path: '/forms/$team/$slug',
  validateSearch: anySearch,
  staticData: { isOpen: true },
  component: lazy(() => import('./pages/form/form-page.tsx'), 'FormPage'),
})

const tree = root.addChildren([
  start,
  form,
  found,
  team.addChildren([
    // Small, and the page that is opened first most often: on a slow network each further file is felt.
    createRoute({ getParentRoute: () => team, path: '/', validateSearch: anySearch, component: HomePage }),
    page('processes', () => import('./pages/processes/processes-page.tsx'), 'ProcessesPage'),
    process.addChildren([
      createRoute({
        getParentRoute: () => process,
        path: '/',
        component: () => <Navigate from="/t/$team/processes/$slug" to="/t/$team/processes/$slug/edit" replace />,
      }),
      tab('edit', () => import('./pages/process/edit-tab.tsx'), 'EditTab'),
      tab('readme', () => import('./pages/process/readme-tab.tsx'), 'ReadmeTab'),
      tab('versions', () => import('./pages/process/versions-tab.tsx'), 'VersionsTab'),
      tab('webhook', () => import('./pages/process/webhook-tab.tsx'), 'WebhookTab'),
      tab('schedules', () => import('./pages/process/schedules-tab.tsx'), 'SchedulesTab'),
      tab('dependencies', () => import('./pages/process/dependencies-tab.tsx'), 'DependenciesTab'),
      tab('settings', () => import('./pages/process/settings-tab.tsx'), 'SettingsTab'),
    ]),
    page('executions', () => import('./pages/executions/executions-page.tsx'), 'ExecutionsPage'),
    page('executions/compare', () => import('./pages/compare/compare-page.tsx'), 'ComparePage'),
    page('executions/$executionId', () => import('./pages/execution/execution-page.tsx'), 'ExecutionPage'),
    page('schedules', () => import('./pages/schedules/schedules-page.tsx'), 'SchedulesPage'),
    page('modules', () => import('./pages/modules/modules-page.tsx'), 'ModulesPage'),
    page('modules/$moduleId', () => import('./pages/module/module-page.tsx'), 'ModulePage'),
    page('variables', () => import('./pages/variables/variables-page.tsx'), 'VariablesPage'),
    page('dependencies', () => import('./pages/dependencies/dependencies-page.tsx'), 'DependenciesPage'),
    page('storage', () => import('./pages/storage/storage-page.tsx'), 'StoragePage'),
    page('sandboxes', () => import('./pages/sandboxes/sandboxes-page.tsx'), 'SandboxesPage'),
    page('sandboxes/$sandboxId', () => import('./pages/sandbox/sandbox-page.tsx'), 'SandboxPage'),
    page('usage', () => import('./pages/usage/usage-page.tsx'), 'UsagePage'),
    page('audit', () => import('./pages/audit/audit-page.tsx'), 'AuditPage'),
    page('tokens', () => import('./pages/tokens/tokens-page.tsx'), 'TokensPage'),
    page('settings', () => import('./pages/settings/settings-page.tsx'), 'SettingsPage'),
  ]),
]) satisfies AnyRoute

export const router = createRouter({
  routeTree: tree,
  // Texts stay texts: read as JSON, `1e3` would be another number, and `true` no word.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const given = Object.entries(search).filter(([, value]) => value !== undefined)
    return given.length === 0 ? '' : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`
  },
  defaultPreload: 'intent',
  scrollRestoration: true,
  defaultPendingComponent: () => <Loading what="page" />,
  defaultErrorComponent: ({ error }) => <FailedPage error={error as Error} />,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }

  interface HistoryState {
    /** What a pasted command would send, to be tried on the page that it leads to. */
    call?: CurlCall
  }

  interface StaticDataRouteOption {
    /** Shown without a session; the page asks for one where it needs it. */
    isOpen?: boolean
  }
}
