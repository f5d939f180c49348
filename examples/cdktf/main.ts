import { App, TerraformStack, TerraformVariable } from 'cdktf'
import type { Construct } from 'constructs'
import { PharosProvider, Service, type ServiceEndpointsAssertions } from 'pharos/cdktf'

/** Holds for every page that a customer sees. */
const healthy: ServiceEndpointsAssertions[] = [
  { statusCode: { between: [200, 299] } },
  { latency: { phase: 'total', lt: '800ms' } },
]

class Monitoring extends TerraformStack {
  constructor(scope: Construct, id: string) {
    super(scope, id)
    // PHAROS_URL and PHAROS_API_KEY come from the environment: neither belongs into a repository.
    new PharosProvider(this, 'pharos')

    new Service(this, 'home', {
      name: 'home page',
      interval: '60s',
      regions: ['eu-west-1', 'us-east-1'],
      endpoints: [{ url: 'https://www.example.com/', http: { method: 'GET' }, assertions: healthy }],
    })

    new Service(this, 'migration', {
      name: 'old shop',
      interval: '5m',
      regions: ['eu-west-1'],
      paused: true,
      endpoints: [{ url: 'https://old.example.com/', http: { method: 'GET', timeout: '5s' } }],
    })

    // Ephemeral: the value is in neither plan nor state, and the API only keeps it encrypted.
    const token = new TerraformVariable(this, 'probe_token', { type: 'string', sensitive: true })
    token.addOverride('ephemeral', true)

    new Service(this, 'checkout', {
      name: 'checkout',
      interval: '30s',
      regions: ['eu-west-1', 'eu-central-1', 'us-east-1'],
      endpoints: [
        {
          name: 'health',
          url: 'https://shop.example.com/health',
          http: {
            method: 'POST',
            timeout: '10s',
            body: { value: '{"probe":true}' },
            headers: {
              'Content-Type': { value: 'application/json' },
              Authorization: { valueWo: `Bearer ${token.stringValue}` },
            },
          },
          assertions: [
            ...healthy,
            { dnsResolution: { lte: '50ms' } },
            { header: { name: 'content-type', startsWith: 'application/json' } },
            { body: { regex: '"status":\\s*"ok"' } },
          ],
        },
      ],
    })
  }
}

const app = new App()
new Monitoring(app, 'monitoring')
app.synth()
