import type { OpenApiDocument } from './document.ts'
import { operationsOf } from './operationParts.ts'

/**
 * An index of the reference for language models, in the form of llms.txt: title, summary, and annotated links relative
 * to the listener. Pure.
 */
export function llmsText(document: OpenApiDocument): string {
  const { info, tags } = document
  const sections = tags.map(({ name }) => {
    const lines = operationsOf(document)
      .filter(({ operation }) => operation.tags.includes(name))
      .map(
        ({ method, path, operation: { operationId, summary } }) =>
          `- [${operationId}](/docs#${operationId}): ${method} ${path}: ${summary}`,
      )
    return `## ${name}\n\n${lines.join('\n')}\n`
  })
  return `# ${info.title}

> ${info.summary}

## Reference

- [Reference](/docs): parameters, bodies, responses, errors, and a curl command for each operation
- [OpenAPI document](/openapi.json): the same in machine-readable form

${sections.join('\n')}`
}
