import { manifestJsonSchema } from '../manifest/schema/jsonSchema.ts'

/** A file of a new repository. */
export interface RepositoryFile {
  /** Relative to the repository, with `/`. */
  readonly path: string
  readonly text: string
}

/** The manifests, `.gitignore` and the schema for editors. The first service checks `target`, an http(s) URL. Pure. */
export function repositoryFiles(target: string): readonly RepositoryFile[] {
  return [
    {
      path: '.gitignore',
      text: '# The state on this machine, and the key of its fingerprints.\n*.db\n*.db-*\n*.db.lock\n*.key\nnode_modules/\n',
    },
    { path: 'monitoring/manifest.schema.json', text: `${JSON.stringify(manifestJsonSchema(), null, 2)}\n` },
    { path: 'monitoring/defaults.yaml', text: `${editorHeader('.')}${DEFAULTS}` },
    { path: 'monitoring/environments.yaml', text: `${editorHeader('.')}${ENVIRONMENTS}` },
    { path: 'monitoring/services/website.yaml', text: `${editorHeader('..')}${websiteService(target)}` },
  ]
}

/** The comment that refers YAML language servers to the schema. */
function editorHeader(folder: string): string {
  return `# yaml-language-server: $schema=${folder}/manifest.schema.json\n`
}

const DEFAULTS = `# Applies to every service in this folder and below; values of a service win.
apiVersion: pharos/v1
kind: Defaults
spec:
  interval: 60s
  regions: [eu-west-1]
  endpointsDefaults:
    timeout: 10s
`

const ENVIRONMENTS = `# Selected with --env. Without it none applies.
apiVersion: pharos/v1
kind: Environment
metadata:
  name: production
---
apiVersion: pharos/v1
kind: Environment
metadata:
  name: staging
spec:
  patches:
    # Staging is checked less often.
    - target: {name: website}
      patch: {spec: {interval: 5m}}
`

function websiteService(target: string): string {
  return `apiVersion: pharos/v1
kind: Service
metadata:
  name: website
spec:
  name: Website
  endpoints:
    - url: ${JSON.stringify(target)}
      assertions:
        - status: 200
`
}
