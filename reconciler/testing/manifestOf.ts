/** A small valid Service manifest; `more` goes below `spec:`, indented by two. */
export function manifestOf(name: string, more = ''): string {
  return `apiVersion: pharos/v1
kind: Service
metadata: {name: ${name}}
spec:
  interval: 60s
  regions: [eu-west-1]
  endpoints:
    - url: https://${name}.example.com/
${more}`
}
