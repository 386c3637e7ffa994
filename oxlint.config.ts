import { defineConfig } from 'oxlint'
import { lintOverrides } from './scripts/boundaries.ts'

export default defineConfig({
  plugins: ['typescript', 'unicorn', 'oxc', 'import', 'promise', 'vitest'],
  options: { typeAware: true, denyWarnings: true, reportUnusedDisableDirectives: 'error' },
  categories: { correctness: 'error' },
  ignorePatterns: ['libs/contract/gen/**', '**/generated/**', '**/*_pb.ts', '**/.data/**', 'apps/console/dist/**'],
  rules: {
    'no-empty': ['error', { allowEmptyCatch: false }],
    'no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
    'no-var': 'error',
    'prefer-const': 'error',
    eqeqeq: ['error', 'always', { null: 'ignore' }],
    'import/no-cycle': 'error',
    'typescript/no-explicit-any': 'error',
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': ['error', { checksVoidReturn: { arguments: false, returns: false } }],
    'typescript/await-thenable': 'error',
    'typescript/return-await': ['error', 'error-handling-correctness-only'],
    'typescript/only-throw-error': 'error',
    'typescript/prefer-promise-reject-errors': 'error',
    'typescript/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    'typescript/consistent-type-imports': 'error',
    'typescript/unbound-method': 'off',
    'typescript/no-misused-spread': ['error', { allow: ['string'] }],
    'unicorn/no-useless-spread': 'off',
    'vitest/valid-expect': ['error', { maxArgs: 2 }],
    'vitest/expect-expect': 'off',
    'vitest/no-conditional-expect': 'off',
    'vitest/no-standalone-expect': 'off',
    'vitest/valid-title': 'off',
    'promise/no-callback-in-promise': 'off',
    'unicorn/filename-case': ['error', { case: 'kebabCase' }],
  },
  overrides: [
    ...lintOverrides(),
    {
      files: ['apps/console/**'],
      plugins: ['typescript', 'unicorn', 'oxc', 'import', 'promise', 'react', 'jsx-a11y'],
      rules: {
        'react/rules-of-hooks': 'error',
        'react/exhaustive-deps': 'error',
        'jsx-a11y/prefer-tag-over-role': 'off',
      },
    },
    {
      // n8n's types are not installed here (`npm run test:hosts` has them).
      files: ['clients/n8n/**'],
      rules: { 'typescript/no-redundant-type-constituents': 'off' },
    },
    {
      // n8n finds the class in a file by the file's name.
      files: ['clients/n8n/**/*.{node,credentials}.ts'],
      rules: { 'unicorn/filename-case': 'off' },
    },
    {
      // Values of users are of any type; a file that declares globals can't import.
      files: ['libs/process-types/*.d.ts'],
      rules: { 'typescript/no-explicit-any': 'off', 'typescript/consistent-type-imports': 'off' },
    },
    {
      // What runs users' code evaluates it, and throws and rejects with whatever users throw.
      files: ['apps/runner/children/**'],
      rules: {
        'typescript/no-implied-eval': 'off',
        'typescript/only-throw-error': 'off',
        'typescript/prefer-promise-reject-errors': 'off',
        'typescript/restrict-template-expressions': 'off',
      },
    },
  ],
})
