// generated from terraform resource schema

import { Construct } from 'constructs';
import * as cdktf from 'cdktf';

// Configuration

export interface PharosProviderConfig {
  /**
  * API key. Default: the environment variable `PHAROS_API_KEY`, which keeps it out of files.
  */
  readonly apiKey?: string;
  /**
  * File of CA certificates (PEM) to trust instead of those that Node trusts. Default: the environment variable `PHAROS_CA_FILE`. `HTTPS_PROXY` and `NO_PROXY` name a proxy.
  */
  readonly caFile?: string;
  /**
  * Whether a create first searches for a service that a killed run created but did not record. The provider takes it over, or reports an error if it may belong to another configuration. `false` always creates a service. Default: `true`.
  */
  readonly createGuard?: boolean | cdktf.IResolvable;
  /**
  * UUID of the organisation that must own the key; the provider refuses to read or change another one. Default: the environment variable `PHAROS_EXPECTED_ORG_ID`; if unset, not checked.
  */
  readonly expectedOrgId?: string;
  /**
  * Base URL of the API, without `/v1`. Default: the environment variable `PHAROS_URL`.
  */
  readonly url?: string;
  /**
  * Alias name
  */
  readonly alias?: string;
}

/**
* Represents a pharos
*/
export class PharosProvider extends cdktf.TerraformProvider {

  // =================
  // STATIC PROPERTIES
  // =================
  public static readonly tfResourceType = "pharos";

  // ==============
  // STATIC Methods
  // ==============
  /**
  * Generates CDKTF code for importing a PharosProvider resource upon running "cdktf plan <stack-name>"
  * @param scope The scope in which to define this construct
  * @param importToId The construct id used in the generated config for the PharosProvider to import
  * @param importFromId The id of the existing PharosProvider that should be imported. Refer to the import section in the documentation of this resource for the id to use
  * @param provider? Optional instance of the provider where the PharosProvider to import is found
  */
  public static generateConfigForImport(scope: Construct, importToId: string, importFromId: string, provider?: cdktf.TerraformProvider) {
        return new cdktf.ImportableResource(scope, importToId, { terraformResourceType: "pharos", importId: importFromId, provider });
      }

  // ===========
  // INITIALIZER
  // ===========

  /**
  * Create a new pharos Resource
  *
  * @param scope The scope in which to define this construct
  * @param id The scoped construct ID. Must be unique amongst siblings in the same scope
  * @param options PharosProviderConfig = {}
  */
  public constructor(scope: Construct, id: string, config: PharosProviderConfig = {}) {
    super(scope, id, {
      terraformResourceType: 'pharos',
      terraformGeneratorMetadata: {
        providerName: 'pharos',
        providerVersionConstraint: '~> 0.2'
      },
      terraformProviderSource: 'pharos/pharos'
    });
    this._apiKey = config.apiKey;
    this._caFile = config.caFile;
    this._createGuard = config.createGuard;
    this._expectedOrgId = config.expectedOrgId;
    this._url = config.url;
    this._alias = config.alias;
  }

  // ==========
  // ATTRIBUTES
  // ==========

  // api_key - computed: false, optional: true, required: false
  private _apiKey?: string; 
  public get apiKey() {
    return this._apiKey;
  }
  public set apiKey(value: string | undefined) {
    this._apiKey = value;
  }
  public resetApiKey() {
    this._apiKey = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get apiKeyInput() {
    return this._apiKey;
  }

  // ca_file - computed: false, optional: true, required: false
  private _caFile?: string; 
  public get caFile() {
    return this._caFile;
  }
  public set caFile(value: string | undefined) {
    this._caFile = value;
  }
  public resetCaFile() {
    this._caFile = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get caFileInput() {
    return this._caFile;
  }

  // create_guard - computed: false, optional: true, required: false
  private _createGuard?: boolean | cdktf.IResolvable; 
  public get createGuard() {
    return this._createGuard;
  }
  public set createGuard(value: boolean | cdktf.IResolvable | undefined) {
    this._createGuard = value;
  }
  public resetCreateGuard() {
    this._createGuard = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get createGuardInput() {
    return this._createGuard;
  }

  // expected_org_id - computed: false, optional: true, required: false
  private _expectedOrgId?: string; 
  public get expectedOrgId() {
    return this._expectedOrgId;
  }
  public set expectedOrgId(value: string | undefined) {
    this._expectedOrgId = value;
  }
  public resetExpectedOrgId() {
    this._expectedOrgId = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get expectedOrgIdInput() {
    return this._expectedOrgId;
  }

  // url - computed: false, optional: true, required: false
  private _url?: string; 
  public get url() {
    return this._url;
  }
  public set url(value: string | undefined) {
    this._url = value;
  }
  public resetUrl() {
    this._url = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get urlInput() {
    return this._url;
  }

  // alias - computed: false, optional: true, required: false
  private _alias?: string; 
  public get alias() {
    return this._alias;
  }
  public set alias(value: string | undefined) {
    this._alias = value;
  }
  public resetAlias() {
    this._alias = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get aliasInput() {
    return this._alias;
  }

  // =========
  // SYNTHESIS
  // =========

  protected synthesizeAttributes(): { [name: string]: any } {
    return {
      api_key: cdktf.stringToTerraform(this._apiKey),
      ca_file: cdktf.stringToTerraform(this._caFile),
      create_guard: cdktf.booleanToTerraform(this._createGuard),
      expected_org_id: cdktf.stringToTerraform(this._expectedOrgId),
      url: cdktf.stringToTerraform(this._url),
      alias: cdktf.stringToTerraform(this._alias),
    };
  }

  protected synthesizeHclAttributes(): { [name: string]: any } {
    const attrs = {
      api_key: {
        value: cdktf.stringToHclTerraform(this._apiKey),
        isBlock: false,
        type: "simple",
        storageClassType: "string",
      },
      ca_file: {
        value: cdktf.stringToHclTerraform(this._caFile),
        isBlock: false,
        type: "simple",
        storageClassType: "string",
      },
      create_guard: {
        value: cdktf.booleanToHclTerraform(this._createGuard),
        isBlock: false,
        type: "simple",
        storageClassType: "boolean",
      },
      expected_org_id: {
        value: cdktf.stringToHclTerraform(this._expectedOrgId),
        isBlock: false,
        type: "simple",
        storageClassType: "string",
      },
      url: {
        value: cdktf.stringToHclTerraform(this._url),
        isBlock: false,
        type: "simple",
        storageClassType: "string",
      },
      alias: {
        value: cdktf.stringToHclTerraform(this._alias),
        isBlock: false,
        type: "simple",
        storageClassType: "string",
      },
    };

    // remove undefined attributes
    return Object.fromEntries(Object.entries(attrs).filter(([_, value]) => value !== undefined && value.value !== undefined ))
  }
}
