/** n8n's rules for packages of nodes, in the way that its own tool (`n8n-node lint`) puts them together. */
import { createRequire } from 'node:module'

// It is copied to where these are.
const require = createRequire(import.meta.url)
const { n8nCommunityNodesPlugin: community } = require('@n8n/eslint-plugin-community-nodes')
const parser = require('@typescript-eslint/parser')
const base = require('eslint-plugin-n8n-nodes-base')

const off = (prefix, ...names) => Object.fromEntries(names.map((name) => [`${prefix}/${name}`, 'off']))
const plugins = { 'n8n-nodes-base': base }

/** Whoever publishes the package says who they are and where it is at home. */
const ofPublishers = {
  ...off('@n8n/community-nodes', 'valid-author', 'require-homepage'),
  ...off('n8n-nodes-base', 'community-package-json-author-missing', 'community-package-json-author-name-missing'),
}

export default [
  { ...community.configs.recommended, files: ['**/*.ts', 'package.json'], languageOptions: { parser } },
  {
    files: ['package.json'],
    plugins,
    rules: { ...base.configs.community.rules, ...ofPublishers },
    languageOptions: { parser, parserOptions: { extraFileExtensions: ['.json'] } },
  },
  {
    files: ['credentials/**/*.ts'],
    plugins,
    rules: {
      ...base.configs.credentials.rules,
      ...off(
        'n8n-nodes-base',
        // Whoever publishes the package says where its documents are, too.
        'cred-class-field-documentation-url-missing',
        'cred-class-field-type-options-password-missing',
      ),
    },
  },
  {
    files: ['nodes/**/*.ts'],
    plugins,
    rules: {
      ...base.configs.nodes.rules,
      ...off(
        'n8n-nodes-base',
        'node-class-description-inputs-wrong-regular-node',
        'node-class-description-outputs-wrong',
        'node-param-type-options-max-value-present',
      ),
    },
  },
]
