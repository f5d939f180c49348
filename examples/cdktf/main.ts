import { App, TerraformStack } from 'cdktf'
import {
  body,
  dns,
  get,
  header,
  latency,
  MonitoredService,
  PharosProvider,
  post,
  type ServiceDefaults,
  secretFromEnv,
  secretText,
  status,
} from 'pharos/cdktf'

/** Assertions for every page that customers see. */
const healthy = [status.between(200, 299), latency.total.below('800ms')] as const

/** Differences between the environments. */
interface Environment extends ServiceDefaults {
  readonly domain: string
  /** Prefix of each service's name, which shows its environment. */
  readonly prefix: string
  /** Whether to import the service of the blog, which was created manually. */
  readonly importsBlog: boolean
}

/** The stack of one environment. */
function monitoring(app: App, id: string, environment: Environment): void {
  const { domain, prefix, importsBlog, ...defaults } = environment
  const stack = new TerraformStack(app, id)
  // PHAROS_URL and PHAROS_API_KEY come from the environment: neither belongs in a repository.
  new PharosProvider(stack, 'pharos')

  new MonitoredService(stack, 'home', {
    ...defaults,
    name: `${prefix}home page`,
    endpoints: get(`https://www.${domain}/`).expect(...healthy),
  })

  new MonitoredService(stack, 'migration', {
    ...defaults,
    name: `${prefix}old shop`,
    interval: '5m',
    paused: true,
    endpoints: get(`https://old.${domain}/`).timeout('5s'),
  })

  // Set on the machine that runs terraform. The value is in neither stack, plan nor state; the API encrypts it.
  const token = secretFromEnv('TF_VAR_probe_token')
  new MonitoredService(stack, 'checkout', {
    ...defaults,
    name: `${prefix}checkout`,
    interval: '30s',
    endpoints: post(`https://shop.${domain}/health`)
      .named('health')
      .timeout('10s')
      .secretHeader('Authorization', secretText`Bearer ${token}`)
      .json({ probe: true })
      .expect(...healthy, dns.atMost('50ms'))
      .expect(header('content-type').startsWith('application/json'), body.matches('"status":\\s*"ok"')),
  })

  const blog = new MonitoredService(stack, 'blog', {
    ...defaults,
    name: `${prefix}blog`,
    endpoints: get(`https://blog.${domain}/`),
  })
  if (importsBlog) blog.importFrom('name=blog')
}

const app = new App()
monitoring(app, 'production', {
  domain: 'example.com',
  prefix: '',
  importsBlog: true,
  interval: '1m',
  regions: ['eu-west-1', 'us-east-1'],
})
monitoring(app, 'staging', {
  domain: 'staging.example.com',
  prefix: 'staging ',
  importsBlog: false,
  interval: '5m',
  regions: ['eu-west-1'],
})
app.synth()
