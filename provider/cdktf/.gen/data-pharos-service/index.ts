// generated from terraform resource schema

import { Construct } from 'constructs';
import * as cdktf from 'cdktf';

// Configuration

export interface DataPharosServiceConfig extends cdktf.TerraformMetaArguments {
  /**
  * UUID of the service. Exactly one of `id` and `name`.
  *
  * Please be aware that the id field is automatically added to all resources in Terraform providers using a Terraform provider SDK version below 2.
  * If you experience problems setting this value it might not be settable. Please take a look at the provider documentation to ensure it should be settable.
  */
  readonly id?: string;
  /**
  * Exact name of the service; an error if several services have it. Exactly one of `id` and `name`.
  */
  readonly name?: string;
}
export interface DataPharosServiceAutoIncident {
}

export function dataPharosServiceAutoIncidentToTerraform(struct?: DataPharosServiceAutoIncident): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  return {
  }
}


export function dataPharosServiceAutoIncidentToHclTerraform(struct?: DataPharosServiceAutoIncident): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  const attrs = {
  };
  return attrs;
}

export class DataPharosServiceAutoIncidentOutputReference extends cdktf.ComplexObject {
  private isEmptyObject = false;

  /**
  * @param terraformResource The parent resource
  * @param terraformAttribute The attribute on the parent resource this class is referencing
  */
  public constructor(terraformResource: cdktf.IInterpolatingParent, terraformAttribute: string) {
    super(terraformResource, terraformAttribute, false);
  }

  public get internalValue(): DataPharosServiceAutoIncident | undefined {
    let hasAnyValues = this.isEmptyObject;
    const internalValueResult: any = {};
    return hasAnyValues ? internalValueResult : undefined;
  }

  public set internalValue(value: DataPharosServiceAutoIncident | undefined) {
    if (value === undefined) {
      this.isEmptyObject = false;
    }
    else {
      this.isEmptyObject = Object.keys(value).length === 0;
    }
  }

  // enabled - computed: true, optional: false, required: false
  public get enabled() {
    return this.getBooleanAttribute('enabled');
  }

  // failure_threshold - computed: true, optional: false, required: false
  public get failureThreshold() {
    return this.getNumberAttribute('failure_threshold');
  }

  // window_minutes - computed: true, optional: false, required: false
  public get windowMinutes() {
    return this.getNumberAttribute('window_minutes');
  }
}
export interface DataPharosServiceEndpointsAssertionsBody {
}

export function dataPharosServiceEndpointsAssertionsBodyToTerraform(struct?: DataPharosServiceEndpointsAssertionsBody): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  return {
  }
}


export function dataPharosServiceEndpointsAssertionsBodyToHclTerraform(struct?: DataPharosServiceEndpointsAssertionsBody): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  const attrs = {
  };
  return attrs;
}

export class DataPharosServiceEndpointsAssertionsBodyOutputReference extends cdktf.ComplexObject {
  private isEmptyObject = false;

  /**
  * @param terraformResource The parent resource
  * @param terraformAttribute The attribute on the parent resource this class is referencing
  */
  public constructor(terraformResource: cdktf.IInterpolatingParent, terraformAttribute: string) {
    super(terraformResource, terraformAttribute, false);
  }

  public get internalValue(): DataPharosServiceEndpointsAssertionsBody | undefined {
    let hasAnyValues = this.isEmptyObject;
    const internalValueResult: any = {};
    return hasAnyValues ? internalValueResult : undefined;
  }

  public set internalValue(value: DataPharosServiceEndpointsAssertionsBody | undefined) {
    if (value === undefined) {
      this.isEmptyObject = false;
    }
    else {
      this.isEmptyObject = Object.keys(value).length === 0;
    }
  }

  // contains - computed: true, optional: false, required: false
  public get contains() {
    return this.getStringAttribute('contains');
  }

  // ends_with - computed: true, optional: false, required: false
  public get endsWith() {
    return this.getStringAttribute('ends_with');
  }

  // eq - computed: true, optional: false, required: false
  public get eq() {
    return this.getStringAttribute('eq');
  }

  // regex - computed: true, optional: false, required: false
  public get regex() {
    return this.getStringAttribute('regex');
  }

  // starts_with - computed: true, optional: false, required: false
  public get startsWith() {
    return this.getStringAttribute('starts_with');
  }
}
export interface DataPharosServiceEndpointsAssertionsDnsResolution {
}

export function dataPharosServiceEndpointsAssertionsDnsResolutionToTerraform(struct?: DataPharosServiceEndpointsAssertionsDnsResolution): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  return {
  }
}


export function dataPharosServiceEndpointsAssertionsDnsResolutionToHclTerraform(struct?: DataPharosServiceEndpointsAssertionsDnsResolution): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  const attrs = {
  };
  return attrs;
}

export class DataPharosServiceEndpointsAssertionsDnsResolutionOutputReference extends cdktf.ComplexObject {
  private isEmptyObject = false;

  /**
  * @param terraformResource The parent resource
  * @param terraformAttribute The attribute on the parent resource this class is referencing
  */
  public constructor(terraformResource: cdktf.IInterpolatingParent, terraformAttribute: string) {
    super(terraformResource, terraformAttribute, false);
  }

  public get internalValue(): DataPharosServiceEndpointsAssertionsDnsResolution | undefined {
    let hasAnyValues = this.isEmptyObject;
    const internalValueResult: any = {};
    return hasAnyValues ? internalValueResult : undefined;
  }

  public set internalValue(value: DataPharosServiceEndpointsAssertionsDnsResolution | undefined) {
    if (value === undefined) {
      this.isEmptyObject = false;
    }
    else {
      this.isEmptyObject = Object.keys(value).length === 0;
    }
  }

  // between - computed: true, optional: false, required: false
  public get between() {
    return this.getListAttribute('between');
  }

  // lt - computed: true, optional: false, required: false
  public get lt() {
    return this.getStringAttribute('lt');
  }

  // lte - computed: true, optional: false, required: false
  public get lte() {
    return this.getStringAttribute('lte');
  }
}
export interface DataPharosServiceEndpointsAssertionsHeader {
}

export function dataPharosServiceEndpointsAssertionsHeaderToTerraform(struct?: DataPharosServiceEndpointsAssertionsHeader): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  return {
  }
}


export function dataPharosServiceEndpointsAssertionsHeaderToHclTerraform(struct?: DataPharosServiceEndpointsAssertionsHeader): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  const attrs = {
  };
  return attrs;
}

export class DataPharosServiceEndpointsAssertionsHeaderOutputReference extends cdktf.ComplexObject {
  private isEmptyObject = false;

  /**
  * @param terraformResource The parent resource
  * @param terraformAttribute The attribute on the parent resource this class is referencing
  */
  public constructor(terraformResource: cdktf.IInterpolatingParent, terraformAttribute: string) {
    super(terraformResource, terraformAttribute, false);
  }

  public get internalValue(): DataPharosServiceEndpointsAssertionsHeader | undefined {
    let hasAnyValues = this.isEmptyObject;
    const internalValueResult: any = {};
    return hasAnyValues ? internalValueResult : undefined;
  }

  public set internalValue(value: DataPharosServiceEndpointsAssertionsHeader | undefined) {
    if (value === undefined) {
      this.isEmptyObject = false;
    }
    else {
      this.isEmptyObject = Object.keys(value).length === 0;
    }
  }

  // contains - computed: true, optional: false, required: false
  public get contains() {
    return this.getStringAttribute('contains');
  }

  // ends_with - computed: true, optional: false, required: false
  public get endsWith() {
    return this.getStringAttribute('ends_with');
  }

  // eq - computed: true, optional: false, required: false
  public get eq() {
    return this.getStringAttribute('eq');
  }

  // name - computed: true, optional: false, required: false
  public get name() {
    return this.getStringAttribute('name');
  }

  // regex - computed: true, optional: false, required: false
  public get regex() {
    return this.getStringAttribute('regex');
  }

  // starts_with - computed: true, optional: false, required: false
  public get startsWith() {
    return this.getStringAttribute('starts_with');
  }
}
export interface DataPharosServiceEndpointsAssertionsLatency {
}

export function dataPharosServiceEndpointsAssertionsLatencyToTerraform(struct?: DataPharosServiceEndpointsAssertionsLatency): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  return {
  }
}


export function dataPharosServiceEndpointsAssertionsLatencyToHclTerraform(struct?: DataPharosServiceEndpointsAssertionsLatency): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  const attrs = {
  };
  return attrs;
}

export class DataPharosServiceEndpointsAssertionsLatencyOutputReference extends cdktf.ComplexObject {
  private isEmptyObject = false;

  /**
  * @param terraformResource The parent resource
  * @param terraformAttribute The attribute on the parent resource this class is referencing
  */
  public constructor(terraformResource: cdktf.IInterpolatingParent, terraformAttribute: string) {
    super(terraformResource, terraformAttribute, false);
  }

  public get internalValue(): DataPharosServiceEndpointsAssertionsLatency | undefined {
    let hasAnyValues = this.isEmptyObject;
    const internalValueResult: any = {};
    return hasAnyValues ? internalValueResult : undefined;
  }

  public set internalValue(value: DataPharosServiceEndpointsAssertionsLatency | undefined) {
    if (value === undefined) {
      this.isEmptyObject = false;
    }
    else {
      this.isEmptyObject = Object.keys(value).length === 0;
    }
  }

  // between - computed: true, optional: false, required: false
  public get between() {
    return this.getListAttribute('between');
  }

  // lt - computed: true, optional: false, required: false
  public get lt() {
    return this.getStringAttribute('lt');
  }

  // lte - computed: true, optional: false, required: false
  public get lte() {
    return this.getStringAttribute('lte');
  }

  // phase - computed: true, optional: false, required: false
  public get phase() {
    return this.getStringAttribute('phase');
  }
}
export interface DataPharosServiceEndpointsAssertionsStatusCode {
}

export function dataPharosServiceEndpointsAssertionsStatusCodeToTerraform(struct?: DataPharosServiceEndpointsAssertionsStatusCode): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  return {
  }
}


export function dataPharosServiceEndpointsAssertionsStatusCodeToHclTerraform(struct?: DataPharosServiceEndpointsAssertionsStatusCode): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  const attrs = {
  };
  return attrs;
}

export class DataPharosServiceEndpointsAssertionsStatusCodeOutputReference extends cdktf.ComplexObject {
  private isEmptyObject = false;

  /**
  * @param terraformResource The parent resource
  * @param terraformAttribute The attribute on the parent resource this class is referencing
  */
  public constructor(terraformResource: cdktf.IInterpolatingParent, terraformAttribute: string) {
    super(terraformResource, terraformAttribute, false);
  }

  public get internalValue(): DataPharosServiceEndpointsAssertionsStatusCode | undefined {
    let hasAnyValues = this.isEmptyObject;
    const internalValueResult: any = {};
    return hasAnyValues ? internalValueResult : undefined;
  }

  public set internalValue(value: DataPharosServiceEndpointsAssertionsStatusCode | undefined) {
    if (value === undefined) {
      this.isEmptyObject = false;
    }
    else {
      this.isEmptyObject = Object.keys(value).length === 0;
    }
  }

  // between - computed: true, optional: false, required: false
  public get between() {
    return this.getNumberListAttribute('between');
  }

  // eq - computed: true, optional: false, required: false
  public get eq() {
    return this.getNumberAttribute('eq');
  }

  // gt - computed: true, optional: false, required: false
  public get gt() {
    return this.getNumberAttribute('gt');
  }

  // gte - computed: true, optional: false, required: false
  public get gte() {
    return this.getNumberAttribute('gte');
  }

  // lt - computed: true, optional: false, required: false
  public get lt() {
    return this.getNumberAttribute('lt');
  }

  // lte - computed: true, optional: false, required: false
  public get lte() {
    return this.getNumberAttribute('lte');
  }

  // ne - computed: true, optional: false, required: false
  public get ne() {
    return this.getNumberAttribute('ne');
  }

  // one_of - computed: true, optional: false, required: false
  public get oneOf() {
    return cdktf.Token.asNumberList(cdktf.Fn.tolist(this.getNumberListAttribute('one_of')));
  }
}
export interface DataPharosServiceEndpointsAssertions {
}

export function dataPharosServiceEndpointsAssertionsToTerraform(struct?: DataPharosServiceEndpointsAssertions): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  return {
  }
}


export function dataPharosServiceEndpointsAssertionsToHclTerraform(struct?: DataPharosServiceEndpointsAssertions): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  const attrs = {
  };
  return attrs;
}

export class DataPharosServiceEndpointsAssertionsOutputReference extends cdktf.ComplexObject {
  private isEmptyObject = false;

  /**
  * @param terraformResource The parent resource
  * @param terraformAttribute The attribute on the parent resource this class is referencing
  * @param complexObjectIndex the index of this item in the list
  * @param complexObjectIsFromSet whether the list is wrapping a set (will add tolist() to be able to access an item via an index)
  */
  public constructor(terraformResource: cdktf.IInterpolatingParent, terraformAttribute: string, complexObjectIndex: number, complexObjectIsFromSet: boolean) {
    super(terraformResource, terraformAttribute, complexObjectIsFromSet, complexObjectIndex);
  }

  public get internalValue(): DataPharosServiceEndpointsAssertions | undefined {
    let hasAnyValues = this.isEmptyObject;
    const internalValueResult: any = {};
    return hasAnyValues ? internalValueResult : undefined;
  }

  public set internalValue(value: DataPharosServiceEndpointsAssertions | undefined) {
    if (value === undefined) {
      this.isEmptyObject = false;
    }
    else {
      this.isEmptyObject = Object.keys(value).length === 0;
    }
  }

  // body - computed: true, optional: false, required: false
  private _body = new DataPharosServiceEndpointsAssertionsBodyOutputReference(this, "body");
  public get body() {
    return this._body;
  }

  // dns_resolution - computed: true, optional: false, required: false
  private _dnsResolution = new DataPharosServiceEndpointsAssertionsDnsResolutionOutputReference(this, "dns_resolution");
  public get dnsResolution() {
    return this._dnsResolution;
  }

  // header - computed: true, optional: false, required: false
  private _header = new DataPharosServiceEndpointsAssertionsHeaderOutputReference(this, "header");
  public get header() {
    return this._header;
  }

  // latency - computed: true, optional: false, required: false
  private _latency = new DataPharosServiceEndpointsAssertionsLatencyOutputReference(this, "latency");
  public get latency() {
    return this._latency;
  }

  // status_code - computed: true, optional: false, required: false
  private _statusCode = new DataPharosServiceEndpointsAssertionsStatusCodeOutputReference(this, "status_code");
  public get statusCode() {
    return this._statusCode;
  }
}

export class DataPharosServiceEndpointsAssertionsList extends cdktf.ComplexList {

  /**
  * @param terraformResource The parent resource
  * @param terraformAttribute The attribute on the parent resource this class is referencing
  * @param wrapsSet whether the list is wrapping a set (will add tolist() to be able to access an item via an index)
  */
  constructor(protected terraformResource: cdktf.IInterpolatingParent, protected terraformAttribute: string, protected wrapsSet: boolean) {
    super(terraformResource, terraformAttribute, wrapsSet)
  }

  /**
  * @param index the index of the item to return
  */
  public get(index: number): DataPharosServiceEndpointsAssertionsOutputReference {
    return new DataPharosServiceEndpointsAssertionsOutputReference(this.terraformResource, this.terraformAttribute, index, this.wrapsSet);
  }
}
export interface DataPharosServiceEndpointsHttpBody {
}

export function dataPharosServiceEndpointsHttpBodyToTerraform(struct?: DataPharosServiceEndpointsHttpBody): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  return {
  }
}


export function dataPharosServiceEndpointsHttpBodyToHclTerraform(struct?: DataPharosServiceEndpointsHttpBody): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  const attrs = {
  };
  return attrs;
}

export class DataPharosServiceEndpointsHttpBodyOutputReference extends cdktf.ComplexObject {
  private isEmptyObject = false;

  /**
  * @param terraformResource The parent resource
  * @param terraformAttribute The attribute on the parent resource this class is referencing
  */
  public constructor(terraformResource: cdktf.IInterpolatingParent, terraformAttribute: string) {
    super(terraformResource, terraformAttribute, false);
  }

  public get internalValue(): DataPharosServiceEndpointsHttpBody | undefined {
    let hasAnyValues = this.isEmptyObject;
    const internalValueResult: any = {};
    return hasAnyValues ? internalValueResult : undefined;
  }

  public set internalValue(value: DataPharosServiceEndpointsHttpBody | undefined) {
    if (value === undefined) {
      this.isEmptyObject = false;
    }
    else {
      this.isEmptyObject = Object.keys(value).length === 0;
    }
  }

  // value - computed: true, optional: false, required: false
  public get value() {
    return this.getStringAttribute('value');
  }
}
export interface DataPharosServiceEndpointsHttpHeaders {
}

export function dataPharosServiceEndpointsHttpHeadersToTerraform(struct?: DataPharosServiceEndpointsHttpHeaders): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  return {
  }
}


export function dataPharosServiceEndpointsHttpHeadersToHclTerraform(struct?: DataPharosServiceEndpointsHttpHeaders): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  const attrs = {
  };
  return attrs;
}

export class DataPharosServiceEndpointsHttpHeadersOutputReference extends cdktf.ComplexObject {
  private isEmptyObject = false;

  /**
  * @param terraformResource The parent resource
  * @param terraformAttribute The attribute on the parent resource this class is referencing
  * @param complexObjectKey the key of this item in the map
  */
  public constructor(terraformResource: cdktf.IInterpolatingParent, terraformAttribute: string, complexObjectKey: string) {
    super(terraformResource, terraformAttribute, false, complexObjectKey);
  }

  public get internalValue(): DataPharosServiceEndpointsHttpHeaders | undefined {
    let hasAnyValues = this.isEmptyObject;
    const internalValueResult: any = {};
    return hasAnyValues ? internalValueResult : undefined;
  }

  public set internalValue(value: DataPharosServiceEndpointsHttpHeaders | undefined) {
    if (value === undefined) {
      this.isEmptyObject = false;
    }
    else {
      this.isEmptyObject = Object.keys(value).length === 0;
    }
  }

  // value - computed: true, optional: false, required: false
  public get value() {
    return this.getStringAttribute('value');
  }
}

export class DataPharosServiceEndpointsHttpHeadersMap extends cdktf.ComplexMap {

  /**
  * @param terraformResource The parent resource
  * @param terraformAttribute The attribute on the parent resource this class is referencing
  */
  constructor(protected terraformResource: cdktf.IInterpolatingParent, protected terraformAttribute: string) {
    super(terraformResource, terraformAttribute)
  }

  /**
  * @param key the key of the item to return
  */
  public get(key: string): DataPharosServiceEndpointsHttpHeadersOutputReference {
    return new DataPharosServiceEndpointsHttpHeadersOutputReference(this.terraformResource, this.terraformAttribute, key);
  }
}
export interface DataPharosServiceEndpointsHttp {
}

export function dataPharosServiceEndpointsHttpToTerraform(struct?: DataPharosServiceEndpointsHttp): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  return {
  }
}


export function dataPharosServiceEndpointsHttpToHclTerraform(struct?: DataPharosServiceEndpointsHttp): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  const attrs = {
  };
  return attrs;
}

export class DataPharosServiceEndpointsHttpOutputReference extends cdktf.ComplexObject {
  private isEmptyObject = false;

  /**
  * @param terraformResource The parent resource
  * @param terraformAttribute The attribute on the parent resource this class is referencing
  */
  public constructor(terraformResource: cdktf.IInterpolatingParent, terraformAttribute: string) {
    super(terraformResource, terraformAttribute, false);
  }

  public get internalValue(): DataPharosServiceEndpointsHttp | undefined {
    let hasAnyValues = this.isEmptyObject;
    const internalValueResult: any = {};
    return hasAnyValues ? internalValueResult : undefined;
  }

  public set internalValue(value: DataPharosServiceEndpointsHttp | undefined) {
    if (value === undefined) {
      this.isEmptyObject = false;
    }
    else {
      this.isEmptyObject = Object.keys(value).length === 0;
    }
  }

  // body - computed: true, optional: false, required: false
  private _body = new DataPharosServiceEndpointsHttpBodyOutputReference(this, "body");
  public get body() {
    return this._body;
  }

  // headers - computed: true, optional: false, required: false
  private _headers = new DataPharosServiceEndpointsHttpHeadersMap(this, "headers");
  public get headers() {
    return this._headers;
  }

  // max_redirects - computed: true, optional: false, required: false
  public get maxRedirects() {
    return this.getNumberAttribute('max_redirects');
  }

  // method - computed: true, optional: false, required: false
  public get method() {
    return this.getStringAttribute('method');
  }

  // timeout - computed: true, optional: false, required: false
  public get timeout() {
    return this.getStringAttribute('timeout');
  }

  // with_dns - computed: true, optional: false, required: false
  public get withDns() {
    return this.getBooleanAttribute('with_dns');
  }
}
export interface DataPharosServiceEndpoints {
}

export function dataPharosServiceEndpointsToTerraform(struct?: DataPharosServiceEndpoints): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  return {
  }
}


export function dataPharosServiceEndpointsToHclTerraform(struct?: DataPharosServiceEndpoints): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  const attrs = {
  };
  return attrs;
}

export class DataPharosServiceEndpointsOutputReference extends cdktf.ComplexObject {
  private isEmptyObject = false;

  /**
  * @param terraformResource The parent resource
  * @param terraformAttribute The attribute on the parent resource this class is referencing
  * @param complexObjectIndex the index of this item in the list
  * @param complexObjectIsFromSet whether the list is wrapping a set (will add tolist() to be able to access an item via an index)
  */
  public constructor(terraformResource: cdktf.IInterpolatingParent, terraformAttribute: string, complexObjectIndex: number, complexObjectIsFromSet: boolean) {
    super(terraformResource, terraformAttribute, complexObjectIsFromSet, complexObjectIndex);
  }

  public get internalValue(): DataPharosServiceEndpoints | undefined {
    let hasAnyValues = this.isEmptyObject;
    const internalValueResult: any = {};
    return hasAnyValues ? internalValueResult : undefined;
  }

  public set internalValue(value: DataPharosServiceEndpoints | undefined) {
    if (value === undefined) {
      this.isEmptyObject = false;
    }
    else {
      this.isEmptyObject = Object.keys(value).length === 0;
    }
  }

  // assertions - computed: true, optional: false, required: false
  private _assertions = new DataPharosServiceEndpointsAssertionsList(this, "assertions", false);
  public get assertions() {
    return this._assertions;
  }

  // http - computed: true, optional: false, required: false
  private _http = new DataPharosServiceEndpointsHttpOutputReference(this, "http");
  public get http() {
    return this._http;
  }

  // name - computed: true, optional: false, required: false
  public get name() {
    return this.getStringAttribute('name');
  }

  // url - computed: true, optional: false, required: false
  public get url() {
    return this.getStringAttribute('url');
  }
}

export class DataPharosServiceEndpointsList extends cdktf.ComplexList {

  /**
  * @param terraformResource The parent resource
  * @param terraformAttribute The attribute on the parent resource this class is referencing
  * @param wrapsSet whether the list is wrapping a set (will add tolist() to be able to access an item via an index)
  */
  constructor(protected terraformResource: cdktf.IInterpolatingParent, protected terraformAttribute: string, protected wrapsSet: boolean) {
    super(terraformResource, terraformAttribute, wrapsSet)
  }

  /**
  * @param index the index of the item to return
  */
  public get(index: number): DataPharosServiceEndpointsOutputReference {
    return new DataPharosServiceEndpointsOutputReference(this.terraformResource, this.terraformAttribute, index, this.wrapsSet);
  }
}

/**
* Represents a pharos_service
*/
export class DataPharosService extends cdktf.TerraformDataSource {

  // =================
  // STATIC PROPERTIES
  // =================
  public static readonly tfResourceType = "pharos_service";

  // ==============
  // STATIC Methods
  // ==============
  /**
  * Generates CDKTF code for importing a DataPharosService resource upon running "cdktf plan <stack-name>"
  * @param scope The scope in which to define this construct
  * @param importToId The construct id used in the generated config for the DataPharosService to import
  * @param importFromId The id of the existing DataPharosService that should be imported. Refer to the import section in the documentation of this resource for the id to use
  * @param provider? Optional instance of the provider where the DataPharosService to import is found
  */
  public static generateConfigForImport(scope: Construct, importToId: string, importFromId: string, provider?: cdktf.TerraformProvider) {
        return new cdktf.ImportableResource(scope, importToId, { terraformResourceType: "pharos_service", importId: importFromId, provider });
      }

  // ===========
  // INITIALIZER
  // ===========

  /**
  * Create a new pharos_service Data Source
  *
  * @param scope The scope in which to define this construct
  * @param id The scoped construct ID. Must be unique amongst siblings in the same scope
  * @param options DataPharosServiceConfig = {}
  */
  public constructor(scope: Construct, id: string, config: DataPharosServiceConfig = {}) {
    super(scope, id, {
      terraformResourceType: 'pharos_service',
      terraformGeneratorMetadata: {
        providerName: 'pharos',
        providerVersionConstraint: '~> 0.2'
      },
      provider: config.provider,
      dependsOn: config.dependsOn,
      count: config.count,
      lifecycle: config.lifecycle,
      provisioners: config.provisioners,
      connection: config.connection,
      forEach: config.forEach
    });
    this._id = config.id;
    this._name = config.name;
  }

  // ==========
  // ATTRIBUTES
  // ==========

  // auto_incident - computed: true, optional: false, required: false
  private _autoIncident = new DataPharosServiceAutoIncidentOutputReference(this, "auto_incident");
  public get autoIncident() {
    return this._autoIncident;
  }

  // created_at - computed: true, optional: false, required: false
  public get createdAt() {
    return this.getStringAttribute('created_at');
  }

  // created_by_email - computed: true, optional: false, required: false
  public get createdByEmail() {
    return this.getStringAttribute('created_by_email');
  }

  // endpoint_ids - computed: true, optional: false, required: false
  public get endpointIds() {
    return this.getListAttribute('endpoint_ids');
  }

  // endpoints - computed: true, optional: false, required: false
  private _endpoints = new DataPharosServiceEndpointsList(this, "endpoints", false);
  public get endpoints() {
    return this._endpoints;
  }

  // endpoints_blocked - computed: true, optional: false, required: false
  private _endpointsBlocked = new cdktf.BooleanList(this, "endpoints_blocked", false);
  public get endpointsBlocked() {
    return this._endpointsBlocked;
  }

  // id - computed: true, optional: true, required: false
  private _id?: string; 
  public get id() {
    return this.getStringAttribute('id');
  }
  public set id(value: string) {
    this._id = value;
  }
  public resetId() {
    this._id = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get idInput() {
    return this._id;
  }

  // interval - computed: true, optional: false, required: false
  public get interval() {
    return this.getStringAttribute('interval');
  }

  // name - computed: true, optional: true, required: false
  private _name?: string; 
  public get name() {
    return this.getStringAttribute('name');
  }
  public set name(value: string) {
    this._name = value;
  }
  public resetName() {
    this._name = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get nameInput() {
    return this._name;
  }

  // org_id - computed: true, optional: false, required: false
  public get orgId() {
    return this.getStringAttribute('org_id');
  }

  // paused - computed: true, optional: false, required: false
  public get paused() {
    return this.getBooleanAttribute('paused');
  }

  // paused_at - computed: true, optional: false, required: false
  public get pausedAt() {
    return this.getStringAttribute('paused_at');
  }

  // regions - computed: true, optional: false, required: false
  public get regions() {
    return cdktf.Fn.tolist(this.getListAttribute('regions'));
  }

  // sealed_key_ids - computed: true, optional: false, required: false
  private _sealedKeyIds = new cdktf.StringMap(this, "sealed_key_ids");
  public get sealedKeyIds() {
    return this._sealedKeyIds;
  }

  // =========
  // SYNTHESIS
  // =========

  protected synthesizeAttributes(): { [name: string]: any } {
    return {
      id: cdktf.stringToTerraform(this._id),
      name: cdktf.stringToTerraform(this._name),
    };
  }

  protected synthesizeHclAttributes(): { [name: string]: any } {
    const attrs = {
      id: {
        value: cdktf.stringToHclTerraform(this._id),
        isBlock: false,
        type: "simple",
        storageClassType: "string",
      },
      name: {
        value: cdktf.stringToHclTerraform(this._name),
        isBlock: false,
        type: "simple",
        storageClassType: "string",
      },
    };

    // remove undefined attributes
    return Object.fromEntries(Object.entries(attrs).filter(([_, value]) => value !== undefined && value.value !== undefined ))
  }
}
