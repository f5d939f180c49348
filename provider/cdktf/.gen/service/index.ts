// generated from terraform resource schema

import { Construct } from 'constructs';
import * as cdktf from 'cdktf';

// Configuration

export interface ServiceConfig extends cdktf.TerraformMetaArguments {
  /**
  * Endpoints to check, at least one. API: `endpoints`.
  */
  readonly endpoints: ServiceEndpoints[] | cdktf.IResolvable;
  /**
  * Time between two checks in whole seconds, such as `30s` or `5m`. API: `interval_secs`.
  */
  readonly interval: string;
  /**
  * Name of the service, 1 to 255 characters. API: `name`.
  */
  readonly name: string;
  /**
  * Whether checks are paused. Default: unchanged, so that a manual pause survives.
  */
  readonly paused?: boolean | cdktf.IResolvable;
  /**
  * Codes of the regions to check from, at least one. API: `regions`.
  */
  readonly regions: string[];
  /**
  * Time limits of operations, including waits for the rate limit.
  */
  readonly timeouts?: ServiceTimeouts;
}
export interface ServiceAutoIncident {
}

export function serviceAutoIncidentToTerraform(struct?: ServiceAutoIncident): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  return {
  }
}


export function serviceAutoIncidentToHclTerraform(struct?: ServiceAutoIncident): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  const attrs = {
  };
  return attrs;
}

export class ServiceAutoIncidentOutputReference extends cdktf.ComplexObject {
  private isEmptyObject = false;

  /**
  * @param terraformResource The parent resource
  * @param terraformAttribute The attribute on the parent resource this class is referencing
  */
  public constructor(terraformResource: cdktf.IInterpolatingParent, terraformAttribute: string) {
    super(terraformResource, terraformAttribute, false);
  }

  public get internalValue(): ServiceAutoIncident | undefined {
    let hasAnyValues = this.isEmptyObject;
    const internalValueResult: any = {};
    return hasAnyValues ? internalValueResult : undefined;
  }

  public set internalValue(value: ServiceAutoIncident | undefined) {
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
export interface ServiceEndpointsAssertionsBody {
  /**
  * Contains this text. API: `Contains`.
  */
  readonly contains?: string;
  /**
  * Ends with this text. API: `EndsWith`.
  */
  readonly endsWith?: string;
  /**
  * Exactly this text. API: `Equals`.
  */
  readonly eq?: string;
  /**
  * Regular expression in RE2 syntax: no look-around, no back-references. API: `Regex`.
  */
  readonly regex?: string;
  /**
  * Starts with this text. API: `StartsWith`.
  */
  readonly startsWith?: string;
}

export function serviceEndpointsAssertionsBodyToTerraform(struct?: ServiceEndpointsAssertionsBody | cdktf.IResolvable): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  return {
    contains: cdktf.stringToTerraform(struct!.contains),
    ends_with: cdktf.stringToTerraform(struct!.endsWith),
    eq: cdktf.stringToTerraform(struct!.eq),
    regex: cdktf.stringToTerraform(struct!.regex),
    starts_with: cdktf.stringToTerraform(struct!.startsWith),
  }
}


export function serviceEndpointsAssertionsBodyToHclTerraform(struct?: ServiceEndpointsAssertionsBody | cdktf.IResolvable): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  const attrs = {
    contains: {
      value: cdktf.stringToHclTerraform(struct!.contains),
      isBlock: false,
      type: "simple",
      storageClassType: "string",
    },
    ends_with: {
      value: cdktf.stringToHclTerraform(struct!.endsWith),
      isBlock: false,
      type: "simple",
      storageClassType: "string",
    },
    eq: {
      value: cdktf.stringToHclTerraform(struct!.eq),
      isBlock: false,
      type: "simple",
      storageClassType: "string",
    },
    regex: {
      value: cdktf.stringToHclTerraform(struct!.regex),
      isBlock: false,
      type: "simple",
      storageClassType: "string",
    },
    starts_with: {
      value: cdktf.stringToHclTerraform(struct!.startsWith),
      isBlock: false,
      type: "simple",
      storageClassType: "string",
    },
  };

  // remove undefined attributes
  return Object.fromEntries(Object.entries(attrs).filter(([_, value]) => value !== undefined && value.value !== undefined));
}

export class ServiceEndpointsAssertionsBodyOutputReference extends cdktf.ComplexObject {
  private isEmptyObject = false;
  private resolvableValue?: cdktf.IResolvable;

  /**
  * @param terraformResource The parent resource
  * @param terraformAttribute The attribute on the parent resource this class is referencing
  */
  public constructor(terraformResource: cdktf.IInterpolatingParent, terraformAttribute: string) {
    super(terraformResource, terraformAttribute, false);
  }

  public get internalValue(): ServiceEndpointsAssertionsBody | cdktf.IResolvable | undefined {
    if (this.resolvableValue) {
      return this.resolvableValue;
    }
    let hasAnyValues = this.isEmptyObject;
    const internalValueResult: any = {};
    if (this._contains !== undefined) {
      hasAnyValues = true;
      internalValueResult.contains = this._contains;
    }
    if (this._endsWith !== undefined) {
      hasAnyValues = true;
      internalValueResult.endsWith = this._endsWith;
    }
    if (this._eq !== undefined) {
      hasAnyValues = true;
      internalValueResult.eq = this._eq;
    }
    if (this._regex !== undefined) {
      hasAnyValues = true;
      internalValueResult.regex = this._regex;
    }
    if (this._startsWith !== undefined) {
      hasAnyValues = true;
      internalValueResult.startsWith = this._startsWith;
    }
    return hasAnyValues ? internalValueResult : undefined;
  }

  public set internalValue(value: ServiceEndpointsAssertionsBody | cdktf.IResolvable | undefined) {
    if (value === undefined) {
      this.isEmptyObject = false;
      this.resolvableValue = undefined;
      this._contains = undefined;
      this._endsWith = undefined;
      this._eq = undefined;
      this._regex = undefined;
      this._startsWith = undefined;
    }
    else if (cdktf.Tokenization.isResolvable(value)) {
      this.isEmptyObject = false;
      this.resolvableValue = value;
    }
    else {
      this.isEmptyObject = Object.keys(value).length === 0;
      this.resolvableValue = undefined;
      this._contains = value.contains;
      this._endsWith = value.endsWith;
      this._eq = value.eq;
      this._regex = value.regex;
      this._startsWith = value.startsWith;
    }
  }

  // contains - computed: false, optional: true, required: false
  private _contains?: string; 
  public get contains() {
    return this.getStringAttribute('contains');
  }
  public set contains(value: string) {
    this._contains = value;
  }
  public resetContains() {
    this._contains = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get containsInput() {
    return this._contains;
  }

  // ends_with - computed: false, optional: true, required: false
  private _endsWith?: string; 
  public get endsWith() {
    return this.getStringAttribute('ends_with');
  }
  public set endsWith(value: string) {
    this._endsWith = value;
  }
  public resetEndsWith() {
    this._endsWith = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get endsWithInput() {
    return this._endsWith;
  }

  // eq - computed: false, optional: true, required: false
  private _eq?: string; 
  public get eq() {
    return this.getStringAttribute('eq');
  }
  public set eq(value: string) {
    this._eq = value;
  }
  public resetEq() {
    this._eq = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get eqInput() {
    return this._eq;
  }

  // regex - computed: false, optional: true, required: false
  private _regex?: string; 
  public get regex() {
    return this.getStringAttribute('regex');
  }
  public set regex(value: string) {
    this._regex = value;
  }
  public resetRegex() {
    this._regex = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get regexInput() {
    return this._regex;
  }

  // starts_with - computed: false, optional: true, required: false
  private _startsWith?: string; 
  public get startsWith() {
    return this.getStringAttribute('starts_with');
  }
  public set startsWith(value: string) {
    this._startsWith = value;
  }
  public resetStartsWith() {
    this._startsWith = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get startsWithInput() {
    return this._startsWith;
  }
}
export interface ServiceEndpointsAssertionsDnsResolution {
  /**
  * Shortest and longest duration, both inclusive. API: `Between`.
  */
  readonly between?: string[];
  /**
  * Shorter than this duration, such as `800ms`. API: `LessThan`.
  */
  readonly lt?: string;
  /**
  * At most this duration. API: `LessOrEqual`.
  */
  readonly lte?: string;
}

export function serviceEndpointsAssertionsDnsResolutionToTerraform(struct?: ServiceEndpointsAssertionsDnsResolution | cdktf.IResolvable): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  return {
    between: cdktf.listMapper(cdktf.stringToTerraform, false)(struct!.between),
    lt: cdktf.stringToTerraform(struct!.lt),
    lte: cdktf.stringToTerraform(struct!.lte),
  }
}


export function serviceEndpointsAssertionsDnsResolutionToHclTerraform(struct?: ServiceEndpointsAssertionsDnsResolution | cdktf.IResolvable): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  const attrs = {
    between: {
      value: cdktf.listMapperHcl(cdktf.stringToHclTerraform, false)(struct!.between),
      isBlock: false,
      type: "list",
      storageClassType: "stringList",
    },
    lt: {
      value: cdktf.stringToHclTerraform(struct!.lt),
      isBlock: false,
      type: "simple",
      storageClassType: "string",
    },
    lte: {
      value: cdktf.stringToHclTerraform(struct!.lte),
      isBlock: false,
      type: "simple",
      storageClassType: "string",
    },
  };

  // remove undefined attributes
  return Object.fromEntries(Object.entries(attrs).filter(([_, value]) => value !== undefined && value.value !== undefined));
}

export class ServiceEndpointsAssertionsDnsResolutionOutputReference extends cdktf.ComplexObject {
  private isEmptyObject = false;
  private resolvableValue?: cdktf.IResolvable;

  /**
  * @param terraformResource The parent resource
  * @param terraformAttribute The attribute on the parent resource this class is referencing
  */
  public constructor(terraformResource: cdktf.IInterpolatingParent, terraformAttribute: string) {
    super(terraformResource, terraformAttribute, false);
  }

  public get internalValue(): ServiceEndpointsAssertionsDnsResolution | cdktf.IResolvable | undefined {
    if (this.resolvableValue) {
      return this.resolvableValue;
    }
    let hasAnyValues = this.isEmptyObject;
    const internalValueResult: any = {};
    if (this._between !== undefined) {
      hasAnyValues = true;
      internalValueResult.between = this._between;
    }
    if (this._lt !== undefined) {
      hasAnyValues = true;
      internalValueResult.lt = this._lt;
    }
    if (this._lte !== undefined) {
      hasAnyValues = true;
      internalValueResult.lte = this._lte;
    }
    return hasAnyValues ? internalValueResult : undefined;
  }

  public set internalValue(value: ServiceEndpointsAssertionsDnsResolution | cdktf.IResolvable | undefined) {
    if (value === undefined) {
      this.isEmptyObject = false;
      this.resolvableValue = undefined;
      this._between = undefined;
      this._lt = undefined;
      this._lte = undefined;
    }
    else if (cdktf.Tokenization.isResolvable(value)) {
      this.isEmptyObject = false;
      this.resolvableValue = value;
    }
    else {
      this.isEmptyObject = Object.keys(value).length === 0;
      this.resolvableValue = undefined;
      this._between = value.between;
      this._lt = value.lt;
      this._lte = value.lte;
    }
  }

  // between - computed: false, optional: true, required: false
  private _between?: string[]; 
  public get between() {
    return this.getListAttribute('between');
  }
  public set between(value: string[]) {
    this._between = value;
  }
  public resetBetween() {
    this._between = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get betweenInput() {
    return this._between;
  }

  // lt - computed: false, optional: true, required: false
  private _lt?: string; 
  public get lt() {
    return this.getStringAttribute('lt');
  }
  public set lt(value: string) {
    this._lt = value;
  }
  public resetLt() {
    this._lt = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get ltInput() {
    return this._lt;
  }

  // lte - computed: false, optional: true, required: false
  private _lte?: string; 
  public get lte() {
    return this.getStringAttribute('lte');
  }
  public set lte(value: string) {
    this._lte = value;
  }
  public resetLte() {
    this._lte = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get lteInput() {
    return this._lte;
  }
}
export interface ServiceEndpointsAssertionsHeader {
  /**
  * Contains this text. API: `Contains`.
  */
  readonly contains?: string;
  /**
  * Ends with this text. API: `EndsWith`.
  */
  readonly endsWith?: string;
  /**
  * Exactly this text. API: `Equals`.
  */
  readonly eq?: string;
  /**
  * Name of the header, case-insensitive.
  */
  readonly name: string;
  /**
  * Regular expression in RE2 syntax: no look-around, no back-references. API: `Regex`.
  */
  readonly regex?: string;
  /**
  * Starts with this text. API: `StartsWith`.
  */
  readonly startsWith?: string;
}

export function serviceEndpointsAssertionsHeaderToTerraform(struct?: ServiceEndpointsAssertionsHeader | cdktf.IResolvable): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  return {
    contains: cdktf.stringToTerraform(struct!.contains),
    ends_with: cdktf.stringToTerraform(struct!.endsWith),
    eq: cdktf.stringToTerraform(struct!.eq),
    name: cdktf.stringToTerraform(struct!.name),
    regex: cdktf.stringToTerraform(struct!.regex),
    starts_with: cdktf.stringToTerraform(struct!.startsWith),
  }
}


export function serviceEndpointsAssertionsHeaderToHclTerraform(struct?: ServiceEndpointsAssertionsHeader | cdktf.IResolvable): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  const attrs = {
    contains: {
      value: cdktf.stringToHclTerraform(struct!.contains),
      isBlock: false,
      type: "simple",
      storageClassType: "string",
    },
    ends_with: {
      value: cdktf.stringToHclTerraform(struct!.endsWith),
      isBlock: false,
      type: "simple",
      storageClassType: "string",
    },
    eq: {
      value: cdktf.stringToHclTerraform(struct!.eq),
      isBlock: false,
      type: "simple",
      storageClassType: "string",
    },
    name: {
      value: cdktf.stringToHclTerraform(struct!.name),
      isBlock: false,
      type: "simple",
      storageClassType: "string",
    },
    regex: {
      value: cdktf.stringToHclTerraform(struct!.regex),
      isBlock: false,
      type: "simple",
      storageClassType: "string",
    },
    starts_with: {
      value: cdktf.stringToHclTerraform(struct!.startsWith),
      isBlock: false,
      type: "simple",
      storageClassType: "string",
    },
  };

  // remove undefined attributes
  return Object.fromEntries(Object.entries(attrs).filter(([_, value]) => value !== undefined && value.value !== undefined));
}

export class ServiceEndpointsAssertionsHeaderOutputReference extends cdktf.ComplexObject {
  private isEmptyObject = false;
  private resolvableValue?: cdktf.IResolvable;

  /**
  * @param terraformResource The parent resource
  * @param terraformAttribute The attribute on the parent resource this class is referencing
  */
  public constructor(terraformResource: cdktf.IInterpolatingParent, terraformAttribute: string) {
    super(terraformResource, terraformAttribute, false);
  }

  public get internalValue(): ServiceEndpointsAssertionsHeader | cdktf.IResolvable | undefined {
    if (this.resolvableValue) {
      return this.resolvableValue;
    }
    let hasAnyValues = this.isEmptyObject;
    const internalValueResult: any = {};
    if (this._contains !== undefined) {
      hasAnyValues = true;
      internalValueResult.contains = this._contains;
    }
    if (this._endsWith !== undefined) {
      hasAnyValues = true;
      internalValueResult.endsWith = this._endsWith;
    }
    if (this._eq !== undefined) {
      hasAnyValues = true;
      internalValueResult.eq = this._eq;
    }
    if (this._name !== undefined) {
      hasAnyValues = true;
      internalValueResult.name = this._name;
    }
    if (this._regex !== undefined) {
      hasAnyValues = true;
      internalValueResult.regex = this._regex;
    }
    if (this._startsWith !== undefined) {
      hasAnyValues = true;
      internalValueResult.startsWith = this._startsWith;
    }
    return hasAnyValues ? internalValueResult : undefined;
  }

  public set internalValue(value: ServiceEndpointsAssertionsHeader | cdktf.IResolvable | undefined) {
    if (value === undefined) {
      this.isEmptyObject = false;
      this.resolvableValue = undefined;
      this._contains = undefined;
      this._endsWith = undefined;
      this._eq = undefined;
      this._name = undefined;
      this._regex = undefined;
      this._startsWith = undefined;
    }
    else if (cdktf.Tokenization.isResolvable(value)) {
      this.isEmptyObject = false;
      this.resolvableValue = value;
    }
    else {
      this.isEmptyObject = Object.keys(value).length === 0;
      this.resolvableValue = undefined;
      this._contains = value.contains;
      this._endsWith = value.endsWith;
      this._eq = value.eq;
      this._name = value.name;
      this._regex = value.regex;
      this._startsWith = value.startsWith;
    }
  }

  // contains - computed: false, optional: true, required: false
  private _contains?: string; 
  public get contains() {
    return this.getStringAttribute('contains');
  }
  public set contains(value: string) {
    this._contains = value;
  }
  public resetContains() {
    this._contains = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get containsInput() {
    return this._contains;
  }

  // ends_with - computed: false, optional: true, required: false
  private _endsWith?: string; 
  public get endsWith() {
    return this.getStringAttribute('ends_with');
  }
  public set endsWith(value: string) {
    this._endsWith = value;
  }
  public resetEndsWith() {
    this._endsWith = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get endsWithInput() {
    return this._endsWith;
  }

  // eq - computed: false, optional: true, required: false
  private _eq?: string; 
  public get eq() {
    return this.getStringAttribute('eq');
  }
  public set eq(value: string) {
    this._eq = value;
  }
  public resetEq() {
    this._eq = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get eqInput() {
    return this._eq;
  }

  // name - computed: false, optional: false, required: true
  private _name?: string; 
  public get name() {
    return this.getStringAttribute('name');
  }
  public set name(value: string) {
    this._name = value;
  }
  // Temporarily expose input value. Use with caution.
  public get nameInput() {
    return this._name;
  }

  // regex - computed: false, optional: true, required: false
  private _regex?: string; 
  public get regex() {
    return this.getStringAttribute('regex');
  }
  public set regex(value: string) {
    this._regex = value;
  }
  public resetRegex() {
    this._regex = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get regexInput() {
    return this._regex;
  }

  // starts_with - computed: false, optional: true, required: false
  private _startsWith?: string; 
  public get startsWith() {
    return this.getStringAttribute('starts_with');
  }
  public set startsWith(value: string) {
    this._startsWith = value;
  }
  public resetStartsWith() {
    this._startsWith = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get startsWithInput() {
    return this._startsWith;
  }
}
export interface ServiceEndpointsAssertionsLatency {
  /**
  * Shortest and longest duration, both inclusive. API: `Between`.
  */
  readonly between?: string[];
  /**
  * Shorter than this duration, such as `800ms`. API: `LessThan`.
  */
  readonly lt?: string;
  /**
  * At most this duration. API: `LessOrEqual`.
  */
  readonly lte?: string;
  /**
  * Time to measure: `headers`, `body` or `total`. API: `l_type`.
  */
  readonly phase: string;
}

export function serviceEndpointsAssertionsLatencyToTerraform(struct?: ServiceEndpointsAssertionsLatency | cdktf.IResolvable): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  return {
    between: cdktf.listMapper(cdktf.stringToTerraform, false)(struct!.between),
    lt: cdktf.stringToTerraform(struct!.lt),
    lte: cdktf.stringToTerraform(struct!.lte),
    phase: cdktf.stringToTerraform(struct!.phase),
  }
}


export function serviceEndpointsAssertionsLatencyToHclTerraform(struct?: ServiceEndpointsAssertionsLatency | cdktf.IResolvable): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  const attrs = {
    between: {
      value: cdktf.listMapperHcl(cdktf.stringToHclTerraform, false)(struct!.between),
      isBlock: false,
      type: "list",
      storageClassType: "stringList",
    },
    lt: {
      value: cdktf.stringToHclTerraform(struct!.lt),
      isBlock: false,
      type: "simple",
      storageClassType: "string",
    },
    lte: {
      value: cdktf.stringToHclTerraform(struct!.lte),
      isBlock: false,
      type: "simple",
      storageClassType: "string",
    },
    phase: {
      value: cdktf.stringToHclTerraform(struct!.phase),
      isBlock: false,
      type: "simple",
      storageClassType: "string",
    },
  };

  // remove undefined attributes
  return Object.fromEntries(Object.entries(attrs).filter(([_, value]) => value !== undefined && value.value !== undefined));
}

export class ServiceEndpointsAssertionsLatencyOutputReference extends cdktf.ComplexObject {
  private isEmptyObject = false;
  private resolvableValue?: cdktf.IResolvable;

  /**
  * @param terraformResource The parent resource
  * @param terraformAttribute The attribute on the parent resource this class is referencing
  */
  public constructor(terraformResource: cdktf.IInterpolatingParent, terraformAttribute: string) {
    super(terraformResource, terraformAttribute, false);
  }

  public get internalValue(): ServiceEndpointsAssertionsLatency | cdktf.IResolvable | undefined {
    if (this.resolvableValue) {
      return this.resolvableValue;
    }
    let hasAnyValues = this.isEmptyObject;
    const internalValueResult: any = {};
    if (this._between !== undefined) {
      hasAnyValues = true;
      internalValueResult.between = this._between;
    }
    if (this._lt !== undefined) {
      hasAnyValues = true;
      internalValueResult.lt = this._lt;
    }
    if (this._lte !== undefined) {
      hasAnyValues = true;
      internalValueResult.lte = this._lte;
    }
    if (this._phase !== undefined) {
      hasAnyValues = true;
      internalValueResult.phase = this._phase;
    }
    return hasAnyValues ? internalValueResult : undefined;
  }

  public set internalValue(value: ServiceEndpointsAssertionsLatency | cdktf.IResolvable | undefined) {
    if (value === undefined) {
      this.isEmptyObject = false;
      this.resolvableValue = undefined;
      this._between = undefined;
      this._lt = undefined;
      this._lte = undefined;
      this._phase = undefined;
    }
    else if (cdktf.Tokenization.isResolvable(value)) {
      this.isEmptyObject = false;
      this.resolvableValue = value;
    }
    else {
      this.isEmptyObject = Object.keys(value).length === 0;
      this.resolvableValue = undefined;
      this._between = value.between;
      this._lt = value.lt;
      this._lte = value.lte;
      this._phase = value.phase;
    }
  }

  // between - computed: false, optional: true, required: false
  private _between?: string[]; 
  public get between() {
    return this.getListAttribute('between');
  }
  public set between(value: string[]) {
    this._between = value;
  }
  public resetBetween() {
    this._between = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get betweenInput() {
    return this._between;
  }

  // lt - computed: false, optional: true, required: false
  private _lt?: string; 
  public get lt() {
    return this.getStringAttribute('lt');
  }
  public set lt(value: string) {
    this._lt = value;
  }
  public resetLt() {
    this._lt = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get ltInput() {
    return this._lt;
  }

  // lte - computed: false, optional: true, required: false
  private _lte?: string; 
  public get lte() {
    return this.getStringAttribute('lte');
  }
  public set lte(value: string) {
    this._lte = value;
  }
  public resetLte() {
    this._lte = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get lteInput() {
    return this._lte;
  }

  // phase - computed: false, optional: false, required: true
  private _phase?: string; 
  public get phase() {
    return this.getStringAttribute('phase');
  }
  public set phase(value: string) {
    this._phase = value;
  }
  // Temporarily expose input value. Use with caution.
  public get phaseInput() {
    return this._phase;
  }
}
export interface ServiceEndpointsAssertionsStatusCode {
  /**
  * Lower and upper bound, both inclusive. API: `Between`.
  */
  readonly between?: number[];
  /**
  * Equal to this value. API: `Eq`.
  */
  readonly eq?: number;
  /**
  * Greater than this value. API: `GreaterThan`.
  */
  readonly gt?: number;
  /**
  * Greater than or equal to this value. API: `GreaterOrEqual`.
  */
  readonly gte?: number;
  /**
  * Less than this value. API: `LessThan`.
  */
  readonly lt?: number;
  /**
  * Less than or equal to this value. API: `LessOrEqual`.
  */
  readonly lte?: number;
  /**
  * Not equal to this value. API: `NotEq`.
  */
  readonly ne?: number;
  /**
  * Any of these values. API: `OneOf`.
  */
  readonly oneOf?: number[];
}

export function serviceEndpointsAssertionsStatusCodeToTerraform(struct?: ServiceEndpointsAssertionsStatusCode | cdktf.IResolvable): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  return {
    between: cdktf.listMapper(cdktf.numberToTerraform, false)(struct!.between),
    eq: cdktf.numberToTerraform(struct!.eq),
    gt: cdktf.numberToTerraform(struct!.gt),
    gte: cdktf.numberToTerraform(struct!.gte),
    lt: cdktf.numberToTerraform(struct!.lt),
    lte: cdktf.numberToTerraform(struct!.lte),
    ne: cdktf.numberToTerraform(struct!.ne),
    one_of: cdktf.listMapper(cdktf.numberToTerraform, false)(struct!.oneOf),
  }
}


export function serviceEndpointsAssertionsStatusCodeToHclTerraform(struct?: ServiceEndpointsAssertionsStatusCode | cdktf.IResolvable): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  const attrs = {
    between: {
      value: cdktf.listMapperHcl(cdktf.numberToHclTerraform, false)(struct!.between),
      isBlock: false,
      type: "list",
      storageClassType: "numberList",
    },
    eq: {
      value: cdktf.numberToHclTerraform(struct!.eq),
      isBlock: false,
      type: "simple",
      storageClassType: "number",
    },
    gt: {
      value: cdktf.numberToHclTerraform(struct!.gt),
      isBlock: false,
      type: "simple",
      storageClassType: "number",
    },
    gte: {
      value: cdktf.numberToHclTerraform(struct!.gte),
      isBlock: false,
      type: "simple",
      storageClassType: "number",
    },
    lt: {
      value: cdktf.numberToHclTerraform(struct!.lt),
      isBlock: false,
      type: "simple",
      storageClassType: "number",
    },
    lte: {
      value: cdktf.numberToHclTerraform(struct!.lte),
      isBlock: false,
      type: "simple",
      storageClassType: "number",
    },
    ne: {
      value: cdktf.numberToHclTerraform(struct!.ne),
      isBlock: false,
      type: "simple",
      storageClassType: "number",
    },
    one_of: {
      value: cdktf.listMapperHcl(cdktf.numberToHclTerraform, false)(struct!.oneOf),
      isBlock: false,
      type: "set",
      storageClassType: "numberList",
    },
  };

  // remove undefined attributes
  return Object.fromEntries(Object.entries(attrs).filter(([_, value]) => value !== undefined && value.value !== undefined));
}

export class ServiceEndpointsAssertionsStatusCodeOutputReference extends cdktf.ComplexObject {
  private isEmptyObject = false;
  private resolvableValue?: cdktf.IResolvable;

  /**
  * @param terraformResource The parent resource
  * @param terraformAttribute The attribute on the parent resource this class is referencing
  */
  public constructor(terraformResource: cdktf.IInterpolatingParent, terraformAttribute: string) {
    super(terraformResource, terraformAttribute, false);
  }

  public get internalValue(): ServiceEndpointsAssertionsStatusCode | cdktf.IResolvable | undefined {
    if (this.resolvableValue) {
      return this.resolvableValue;
    }
    let hasAnyValues = this.isEmptyObject;
    const internalValueResult: any = {};
    if (this._between !== undefined) {
      hasAnyValues = true;
      internalValueResult.between = this._between;
    }
    if (this._eq !== undefined) {
      hasAnyValues = true;
      internalValueResult.eq = this._eq;
    }
    if (this._gt !== undefined) {
      hasAnyValues = true;
      internalValueResult.gt = this._gt;
    }
    if (this._gte !== undefined) {
      hasAnyValues = true;
      internalValueResult.gte = this._gte;
    }
    if (this._lt !== undefined) {
      hasAnyValues = true;
      internalValueResult.lt = this._lt;
    }
    if (this._lte !== undefined) {
      hasAnyValues = true;
      internalValueResult.lte = this._lte;
    }
    if (this._ne !== undefined) {
      hasAnyValues = true;
      internalValueResult.ne = this._ne;
    }
    if (this._oneOf !== undefined) {
      hasAnyValues = true;
      internalValueResult.oneOf = this._oneOf;
    }
    return hasAnyValues ? internalValueResult : undefined;
  }

  public set internalValue(value: ServiceEndpointsAssertionsStatusCode | cdktf.IResolvable | undefined) {
    if (value === undefined) {
      this.isEmptyObject = false;
      this.resolvableValue = undefined;
      this._between = undefined;
      this._eq = undefined;
      this._gt = undefined;
      this._gte = undefined;
      this._lt = undefined;
      this._lte = undefined;
      this._ne = undefined;
      this._oneOf = undefined;
    }
    else if (cdktf.Tokenization.isResolvable(value)) {
      this.isEmptyObject = false;
      this.resolvableValue = value;
    }
    else {
      this.isEmptyObject = Object.keys(value).length === 0;
      this.resolvableValue = undefined;
      this._between = value.between;
      this._eq = value.eq;
      this._gt = value.gt;
      this._gte = value.gte;
      this._lt = value.lt;
      this._lte = value.lte;
      this._ne = value.ne;
      this._oneOf = value.oneOf;
    }
  }

  // between - computed: false, optional: true, required: false
  private _between?: number[]; 
  public get between() {
    return this.getNumberListAttribute('between');
  }
  public set between(value: number[]) {
    this._between = value;
  }
  public resetBetween() {
    this._between = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get betweenInput() {
    return this._between;
  }

  // eq - computed: false, optional: true, required: false
  private _eq?: number; 
  public get eq() {
    return this.getNumberAttribute('eq');
  }
  public set eq(value: number) {
    this._eq = value;
  }
  public resetEq() {
    this._eq = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get eqInput() {
    return this._eq;
  }

  // gt - computed: false, optional: true, required: false
  private _gt?: number; 
  public get gt() {
    return this.getNumberAttribute('gt');
  }
  public set gt(value: number) {
    this._gt = value;
  }
  public resetGt() {
    this._gt = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get gtInput() {
    return this._gt;
  }

  // gte - computed: false, optional: true, required: false
  private _gte?: number; 
  public get gte() {
    return this.getNumberAttribute('gte');
  }
  public set gte(value: number) {
    this._gte = value;
  }
  public resetGte() {
    this._gte = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get gteInput() {
    return this._gte;
  }

  // lt - computed: false, optional: true, required: false
  private _lt?: number; 
  public get lt() {
    return this.getNumberAttribute('lt');
  }
  public set lt(value: number) {
    this._lt = value;
  }
  public resetLt() {
    this._lt = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get ltInput() {
    return this._lt;
  }

  // lte - computed: false, optional: true, required: false
  private _lte?: number; 
  public get lte() {
    return this.getNumberAttribute('lte');
  }
  public set lte(value: number) {
    this._lte = value;
  }
  public resetLte() {
    this._lte = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get lteInput() {
    return this._lte;
  }

  // ne - computed: false, optional: true, required: false
  private _ne?: number; 
  public get ne() {
    return this.getNumberAttribute('ne');
  }
  public set ne(value: number) {
    this._ne = value;
  }
  public resetNe() {
    this._ne = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get neInput() {
    return this._ne;
  }

  // one_of - computed: false, optional: true, required: false
  private _oneOf?: number[]; 
  public get oneOf() {
    return cdktf.Token.asNumberList(cdktf.Fn.tolist(this.getNumberListAttribute('one_of')));
  }
  public set oneOf(value: number[]) {
    this._oneOf = value;
  }
  public resetOneOf() {
    this._oneOf = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get oneOfInput() {
    return this._oneOf;
  }
}
export interface ServiceEndpointsAssertions {
  /**
  * Expected response body. Exactly one operator. API: `Body`.
  */
  readonly body?: ServiceEndpointsAssertionsBody;
  /**
  * Expected time to resolve the host name. Exactly one operator. API: `DnsResoltion`.
  */
  readonly dnsResolution?: ServiceEndpointsAssertionsDnsResolution;
  /**
  * Expected value of a response header. Exactly one operator. API: `Header`.
  */
  readonly header?: ServiceEndpointsAssertionsHeader;
  /**
  * Expected response time. Exactly one operator. API: `Latency`.
  */
  readonly latency?: ServiceEndpointsAssertionsLatency;
  /**
  * Expected status code. Exactly one operator. API: `StatusCode`.
  */
  readonly statusCode?: ServiceEndpointsAssertionsStatusCode;
}

export function serviceEndpointsAssertionsToTerraform(struct?: ServiceEndpointsAssertions | cdktf.IResolvable): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  return {
    body: serviceEndpointsAssertionsBodyToTerraform(struct!.body),
    dns_resolution: serviceEndpointsAssertionsDnsResolutionToTerraform(struct!.dnsResolution),
    header: serviceEndpointsAssertionsHeaderToTerraform(struct!.header),
    latency: serviceEndpointsAssertionsLatencyToTerraform(struct!.latency),
    status_code: serviceEndpointsAssertionsStatusCodeToTerraform(struct!.statusCode),
  }
}


export function serviceEndpointsAssertionsToHclTerraform(struct?: ServiceEndpointsAssertions | cdktf.IResolvable): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  const attrs = {
    body: {
      value: serviceEndpointsAssertionsBodyToHclTerraform(struct!.body),
      isBlock: true,
      type: "struct",
      storageClassType: "ServiceEndpointsAssertionsBody",
    },
    dns_resolution: {
      value: serviceEndpointsAssertionsDnsResolutionToHclTerraform(struct!.dnsResolution),
      isBlock: true,
      type: "struct",
      storageClassType: "ServiceEndpointsAssertionsDnsResolution",
    },
    header: {
      value: serviceEndpointsAssertionsHeaderToHclTerraform(struct!.header),
      isBlock: true,
      type: "struct",
      storageClassType: "ServiceEndpointsAssertionsHeader",
    },
    latency: {
      value: serviceEndpointsAssertionsLatencyToHclTerraform(struct!.latency),
      isBlock: true,
      type: "struct",
      storageClassType: "ServiceEndpointsAssertionsLatency",
    },
    status_code: {
      value: serviceEndpointsAssertionsStatusCodeToHclTerraform(struct!.statusCode),
      isBlock: true,
      type: "struct",
      storageClassType: "ServiceEndpointsAssertionsStatusCode",
    },
  };

  // remove undefined attributes
  return Object.fromEntries(Object.entries(attrs).filter(([_, value]) => value !== undefined && value.value !== undefined));
}

export class ServiceEndpointsAssertionsOutputReference extends cdktf.ComplexObject {
  private isEmptyObject = false;
  private resolvableValue?: cdktf.IResolvable;

  /**
  * @param terraformResource The parent resource
  * @param terraformAttribute The attribute on the parent resource this class is referencing
  * @param complexObjectIndex the index of this item in the list
  * @param complexObjectIsFromSet whether the list is wrapping a set (will add tolist() to be able to access an item via an index)
  */
  public constructor(terraformResource: cdktf.IInterpolatingParent, terraformAttribute: string, complexObjectIndex: number, complexObjectIsFromSet: boolean) {
    super(terraformResource, terraformAttribute, complexObjectIsFromSet, complexObjectIndex);
  }

  public get internalValue(): ServiceEndpointsAssertions | cdktf.IResolvable | undefined {
    if (this.resolvableValue) {
      return this.resolvableValue;
    }
    let hasAnyValues = this.isEmptyObject;
    const internalValueResult: any = {};
    if (this._body?.internalValue !== undefined) {
      hasAnyValues = true;
      internalValueResult.body = this._body?.internalValue;
    }
    if (this._dnsResolution?.internalValue !== undefined) {
      hasAnyValues = true;
      internalValueResult.dnsResolution = this._dnsResolution?.internalValue;
    }
    if (this._header?.internalValue !== undefined) {
      hasAnyValues = true;
      internalValueResult.header = this._header?.internalValue;
    }
    if (this._latency?.internalValue !== undefined) {
      hasAnyValues = true;
      internalValueResult.latency = this._latency?.internalValue;
    }
    if (this._statusCode?.internalValue !== undefined) {
      hasAnyValues = true;
      internalValueResult.statusCode = this._statusCode?.internalValue;
    }
    return hasAnyValues ? internalValueResult : undefined;
  }

  public set internalValue(value: ServiceEndpointsAssertions | cdktf.IResolvable | undefined) {
    if (value === undefined) {
      this.isEmptyObject = false;
      this.resolvableValue = undefined;
      this._body.internalValue = undefined;
      this._dnsResolution.internalValue = undefined;
      this._header.internalValue = undefined;
      this._latency.internalValue = undefined;
      this._statusCode.internalValue = undefined;
    }
    else if (cdktf.Tokenization.isResolvable(value)) {
      this.isEmptyObject = false;
      this.resolvableValue = value;
    }
    else {
      this.isEmptyObject = Object.keys(value).length === 0;
      this.resolvableValue = undefined;
      this._body.internalValue = value.body;
      this._dnsResolution.internalValue = value.dnsResolution;
      this._header.internalValue = value.header;
      this._latency.internalValue = value.latency;
      this._statusCode.internalValue = value.statusCode;
    }
  }

  // body - computed: false, optional: true, required: false
  private _body = new ServiceEndpointsAssertionsBodyOutputReference(this, "body");
  public get body() {
    return this._body;
  }
  public putBody(value: ServiceEndpointsAssertionsBody) {
    this._body.internalValue = value;
  }
  public resetBody() {
    this._body.internalValue = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get bodyInput() {
    return this._body.internalValue;
  }

  // dns_resolution - computed: false, optional: true, required: false
  private _dnsResolution = new ServiceEndpointsAssertionsDnsResolutionOutputReference(this, "dns_resolution");
  public get dnsResolution() {
    return this._dnsResolution;
  }
  public putDnsResolution(value: ServiceEndpointsAssertionsDnsResolution) {
    this._dnsResolution.internalValue = value;
  }
  public resetDnsResolution() {
    this._dnsResolution.internalValue = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get dnsResolutionInput() {
    return this._dnsResolution.internalValue;
  }

  // header - computed: false, optional: true, required: false
  private _header = new ServiceEndpointsAssertionsHeaderOutputReference(this, "header");
  public get header() {
    return this._header;
  }
  public putHeader(value: ServiceEndpointsAssertionsHeader) {
    this._header.internalValue = value;
  }
  public resetHeader() {
    this._header.internalValue = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get headerInput() {
    return this._header.internalValue;
  }

  // latency - computed: false, optional: true, required: false
  private _latency = new ServiceEndpointsAssertionsLatencyOutputReference(this, "latency");
  public get latency() {
    return this._latency;
  }
  public putLatency(value: ServiceEndpointsAssertionsLatency) {
    this._latency.internalValue = value;
  }
  public resetLatency() {
    this._latency.internalValue = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get latencyInput() {
    return this._latency.internalValue;
  }

  // status_code - computed: false, optional: true, required: false
  private _statusCode = new ServiceEndpointsAssertionsStatusCodeOutputReference(this, "status_code");
  public get statusCode() {
    return this._statusCode;
  }
  public putStatusCode(value: ServiceEndpointsAssertionsStatusCode) {
    this._statusCode.internalValue = value;
  }
  public resetStatusCode() {
    this._statusCode.internalValue = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get statusCodeInput() {
    return this._statusCode.internalValue;
  }
}

export class ServiceEndpointsAssertionsList extends cdktf.ComplexList {
  public internalValue? : ServiceEndpointsAssertions[] | cdktf.IResolvable

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
  public get(index: number): ServiceEndpointsAssertionsOutputReference {
    return new ServiceEndpointsAssertionsOutputReference(this.terraformResource, this.terraformAttribute, index, this.wrapsSet);
  }
}
export interface ServiceEndpointsHttpBody {
  /**
  * The value in clear text: stored in the state and shown in plans. Not for secrets.
  */
  readonly value?: string;
  /**
  * A secret: encrypted by the server, never in state or plan. The provider detects a changed secret. Requires Terraform or OpenTofu 1.11.
  */
  readonly valueWo?: string;
  /**
  * Change this to send an unchanged `value_wo` again.
  */
  readonly valueWoVersion?: string;
}

export function serviceEndpointsHttpBodyToTerraform(struct?: ServiceEndpointsHttpBody | cdktf.IResolvable): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  return {
    value: cdktf.stringToTerraform(struct!.value),
    value_wo: cdktf.stringToTerraform(struct!.valueWo),
    value_wo_version: cdktf.stringToTerraform(struct!.valueWoVersion),
  }
}


export function serviceEndpointsHttpBodyToHclTerraform(struct?: ServiceEndpointsHttpBody | cdktf.IResolvable): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  const attrs = {
    value: {
      value: cdktf.stringToHclTerraform(struct!.value),
      isBlock: false,
      type: "simple",
      storageClassType: "string",
    },
    value_wo: {
      value: cdktf.stringToHclTerraform(struct!.valueWo),
      isBlock: false,
      type: "simple",
      storageClassType: "string",
    },
    value_wo_version: {
      value: cdktf.stringToHclTerraform(struct!.valueWoVersion),
      isBlock: false,
      type: "simple",
      storageClassType: "string",
    },
  };

  // remove undefined attributes
  return Object.fromEntries(Object.entries(attrs).filter(([_, value]) => value !== undefined && value.value !== undefined));
}

export class ServiceEndpointsHttpBodyOutputReference extends cdktf.ComplexObject {
  private isEmptyObject = false;
  private resolvableValue?: cdktf.IResolvable;

  /**
  * @param terraformResource The parent resource
  * @param terraformAttribute The attribute on the parent resource this class is referencing
  */
  public constructor(terraformResource: cdktf.IInterpolatingParent, terraformAttribute: string) {
    super(terraformResource, terraformAttribute, false);
  }

  public get internalValue(): ServiceEndpointsHttpBody | cdktf.IResolvable | undefined {
    if (this.resolvableValue) {
      return this.resolvableValue;
    }
    let hasAnyValues = this.isEmptyObject;
    const internalValueResult: any = {};
    if (this._value !== undefined) {
      hasAnyValues = true;
      internalValueResult.value = this._value;
    }
    if (this._valueWo !== undefined) {
      hasAnyValues = true;
      internalValueResult.valueWo = this._valueWo;
    }
    if (this._valueWoVersion !== undefined) {
      hasAnyValues = true;
      internalValueResult.valueWoVersion = this._valueWoVersion;
    }
    return hasAnyValues ? internalValueResult : undefined;
  }

  public set internalValue(value: ServiceEndpointsHttpBody | cdktf.IResolvable | undefined) {
    if (value === undefined) {
      this.isEmptyObject = false;
      this.resolvableValue = undefined;
      this._value = undefined;
      this._valueWo = undefined;
      this._valueWoVersion = undefined;
    }
    else if (cdktf.Tokenization.isResolvable(value)) {
      this.isEmptyObject = false;
      this.resolvableValue = value;
    }
    else {
      this.isEmptyObject = Object.keys(value).length === 0;
      this.resolvableValue = undefined;
      this._value = value.value;
      this._valueWo = value.valueWo;
      this._valueWoVersion = value.valueWoVersion;
    }
  }

  // value - computed: false, optional: true, required: false
  private _value?: string; 
  public get value() {
    return this.getStringAttribute('value');
  }
  public set value(value: string) {
    this._value = value;
  }
  public resetValue() {
    this._value = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get valueInput() {
    return this._value;
  }

  // value_wo - computed: false, optional: true, required: false
  private _valueWo?: string; 
  public get valueWo() {
    return this.getStringAttribute('value_wo');
  }
  public set valueWo(value: string) {
    this._valueWo = value;
  }
  public resetValueWo() {
    this._valueWo = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get valueWoInput() {
    return this._valueWo;
  }

  // value_wo_version - computed: false, optional: true, required: false
  private _valueWoVersion?: string; 
  public get valueWoVersion() {
    return this.getStringAttribute('value_wo_version');
  }
  public set valueWoVersion(value: string) {
    this._valueWoVersion = value;
  }
  public resetValueWoVersion() {
    this._valueWoVersion = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get valueWoVersionInput() {
    return this._valueWoVersion;
  }
}
export interface ServiceEndpointsHttpHeaders {
  /**
  * The value in clear text: stored in the state and shown in plans. Not for secrets.
  */
  readonly value?: string;
  /**
  * A secret: encrypted by the server, never in state or plan. The provider detects a changed secret. Requires Terraform or OpenTofu 1.11.
  */
  readonly valueWo?: string;
  /**
  * Change this to send an unchanged `value_wo` again.
  */
  readonly valueWoVersion?: string;
}

export function serviceEndpointsHttpHeadersToTerraform(struct?: ServiceEndpointsHttpHeaders | cdktf.IResolvable): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  return {
    value: cdktf.stringToTerraform(struct!.value),
    value_wo: cdktf.stringToTerraform(struct!.valueWo),
    value_wo_version: cdktf.stringToTerraform(struct!.valueWoVersion),
  }
}


export function serviceEndpointsHttpHeadersToHclTerraform(struct?: ServiceEndpointsHttpHeaders | cdktf.IResolvable): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  const attrs = {
    value: {
      value: cdktf.stringToHclTerraform(struct!.value),
      isBlock: false,
      type: "simple",
      storageClassType: "string",
    },
    value_wo: {
      value: cdktf.stringToHclTerraform(struct!.valueWo),
      isBlock: false,
      type: "simple",
      storageClassType: "string",
    },
    value_wo_version: {
      value: cdktf.stringToHclTerraform(struct!.valueWoVersion),
      isBlock: false,
      type: "simple",
      storageClassType: "string",
    },
  };

  // remove undefined attributes
  return Object.fromEntries(Object.entries(attrs).filter(([_, value]) => value !== undefined && value.value !== undefined));
}

export class ServiceEndpointsHttpHeadersOutputReference extends cdktf.ComplexObject {
  private isEmptyObject = false;
  private resolvableValue?: cdktf.IResolvable;

  /**
  * @param terraformResource The parent resource
  * @param terraformAttribute The attribute on the parent resource this class is referencing
  * @param complexObjectKey the key of this item in the map
  */
  public constructor(terraformResource: cdktf.IInterpolatingParent, terraformAttribute: string, complexObjectKey: string) {
    super(terraformResource, terraformAttribute, false, complexObjectKey);
  }

  public get internalValue(): ServiceEndpointsHttpHeaders | cdktf.IResolvable | undefined {
    if (this.resolvableValue) {
      return this.resolvableValue;
    }
    let hasAnyValues = this.isEmptyObject;
    const internalValueResult: any = {};
    if (this._value !== undefined) {
      hasAnyValues = true;
      internalValueResult.value = this._value;
    }
    if (this._valueWo !== undefined) {
      hasAnyValues = true;
      internalValueResult.valueWo = this._valueWo;
    }
    if (this._valueWoVersion !== undefined) {
      hasAnyValues = true;
      internalValueResult.valueWoVersion = this._valueWoVersion;
    }
    return hasAnyValues ? internalValueResult : undefined;
  }

  public set internalValue(value: ServiceEndpointsHttpHeaders | cdktf.IResolvable | undefined) {
    if (value === undefined) {
      this.isEmptyObject = false;
      this.resolvableValue = undefined;
      this._value = undefined;
      this._valueWo = undefined;
      this._valueWoVersion = undefined;
    }
    else if (cdktf.Tokenization.isResolvable(value)) {
      this.isEmptyObject = false;
      this.resolvableValue = value;
    }
    else {
      this.isEmptyObject = Object.keys(value).length === 0;
      this.resolvableValue = undefined;
      this._value = value.value;
      this._valueWo = value.valueWo;
      this._valueWoVersion = value.valueWoVersion;
    }
  }

  // value - computed: false, optional: true, required: false
  private _value?: string; 
  public get value() {
    return this.getStringAttribute('value');
  }
  public set value(value: string) {
    this._value = value;
  }
  public resetValue() {
    this._value = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get valueInput() {
    return this._value;
  }

  // value_wo - computed: false, optional: true, required: false
  private _valueWo?: string; 
  public get valueWo() {
    return this.getStringAttribute('value_wo');
  }
  public set valueWo(value: string) {
    this._valueWo = value;
  }
  public resetValueWo() {
    this._valueWo = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get valueWoInput() {
    return this._valueWo;
  }

  // value_wo_version - computed: false, optional: true, required: false
  private _valueWoVersion?: string; 
  public get valueWoVersion() {
    return this.getStringAttribute('value_wo_version');
  }
  public set valueWoVersion(value: string) {
    this._valueWoVersion = value;
  }
  public resetValueWoVersion() {
    this._valueWoVersion = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get valueWoVersionInput() {
    return this._valueWoVersion;
  }
}

export class ServiceEndpointsHttpHeadersMap extends cdktf.ComplexMap {
  public internalValue? : { [key: string]: ServiceEndpointsHttpHeaders } | cdktf.IResolvable

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
  public get(key: string): ServiceEndpointsHttpHeadersOutputReference {
    return new ServiceEndpointsHttpHeadersOutputReference(this.terraformResource, this.terraformAttribute, key);
  }
}
export interface ServiceEndpointsHttp {
  /**
  * Request body: either `value` or `value_wo`. API: `body`.
  */
  readonly body?: ServiceEndpointsHttpBody;
  /**
  * Request headers by name, each with either `value` or `value_wo`. API: `headers`.
  */
  readonly headers?: { [key: string]: ServiceEndpointsHttpHeaders } | cdktf.IResolvable;
  /**
  * Redirects to follow, at most 20; 0 checks the redirect itself. Server default: 10. API: `max_redirects_to_follow`.
  */
  readonly maxRedirects?: number;
  /**
  * `GET` or `POST`. API: `method`.
  */
  readonly method: string;
  /**
  * Time limit of the whole check, up to `60s`. Server default: 10 s. API: `timeout`.
  */
  readonly timeout?: string;
  /**
  * Whether each check resolves the host name again, and latencies include that time. Default: false. API: `with_dns`.
  */
  readonly withDns?: boolean | cdktf.IResolvable;
}

export function serviceEndpointsHttpToTerraform(struct?: ServiceEndpointsHttp | cdktf.IResolvable): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  return {
    body: serviceEndpointsHttpBodyToTerraform(struct!.body),
    headers: cdktf.hashMapper(serviceEndpointsHttpHeadersToTerraform)(struct!.headers),
    max_redirects: cdktf.numberToTerraform(struct!.maxRedirects),
    method: cdktf.stringToTerraform(struct!.method),
    timeout: cdktf.stringToTerraform(struct!.timeout),
    with_dns: cdktf.booleanToTerraform(struct!.withDns),
  }
}


export function serviceEndpointsHttpToHclTerraform(struct?: ServiceEndpointsHttp | cdktf.IResolvable): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  const attrs = {
    body: {
      value: serviceEndpointsHttpBodyToHclTerraform(struct!.body),
      isBlock: true,
      type: "struct",
      storageClassType: "ServiceEndpointsHttpBody",
    },
    headers: {
      value: cdktf.hashMapperHcl(serviceEndpointsHttpHeadersToHclTerraform)(struct!.headers),
      isBlock: true,
      type: "map",
      storageClassType: "ServiceEndpointsHttpHeadersMap",
    },
    max_redirects: {
      value: cdktf.numberToHclTerraform(struct!.maxRedirects),
      isBlock: false,
      type: "simple",
      storageClassType: "number",
    },
    method: {
      value: cdktf.stringToHclTerraform(struct!.method),
      isBlock: false,
      type: "simple",
      storageClassType: "string",
    },
    timeout: {
      value: cdktf.stringToHclTerraform(struct!.timeout),
      isBlock: false,
      type: "simple",
      storageClassType: "string",
    },
    with_dns: {
      value: cdktf.booleanToHclTerraform(struct!.withDns),
      isBlock: false,
      type: "simple",
      storageClassType: "boolean",
    },
  };

  // remove undefined attributes
  return Object.fromEntries(Object.entries(attrs).filter(([_, value]) => value !== undefined && value.value !== undefined));
}

export class ServiceEndpointsHttpOutputReference extends cdktf.ComplexObject {
  private isEmptyObject = false;
  private resolvableValue?: cdktf.IResolvable;

  /**
  * @param terraformResource The parent resource
  * @param terraformAttribute The attribute on the parent resource this class is referencing
  */
  public constructor(terraformResource: cdktf.IInterpolatingParent, terraformAttribute: string) {
    super(terraformResource, terraformAttribute, false);
  }

  public get internalValue(): ServiceEndpointsHttp | cdktf.IResolvable | undefined {
    if (this.resolvableValue) {
      return this.resolvableValue;
    }
    let hasAnyValues = this.isEmptyObject;
    const internalValueResult: any = {};
    if (this._body?.internalValue !== undefined) {
      hasAnyValues = true;
      internalValueResult.body = this._body?.internalValue;
    }
    if (this._headers?.internalValue !== undefined) {
      hasAnyValues = true;
      internalValueResult.headers = this._headers?.internalValue;
    }
    if (this._maxRedirects !== undefined) {
      hasAnyValues = true;
      internalValueResult.maxRedirects = this._maxRedirects;
    }
    if (this._method !== undefined) {
      hasAnyValues = true;
      internalValueResult.method = this._method;
    }
    if (this._timeout !== undefined) {
      hasAnyValues = true;
      internalValueResult.timeout = this._timeout;
    }
    if (this._withDns !== undefined) {
      hasAnyValues = true;
      internalValueResult.withDns = this._withDns;
    }
    return hasAnyValues ? internalValueResult : undefined;
  }

  public set internalValue(value: ServiceEndpointsHttp | cdktf.IResolvable | undefined) {
    if (value === undefined) {
      this.isEmptyObject = false;
      this.resolvableValue = undefined;
      this._body.internalValue = undefined;
      this._headers.internalValue = undefined;
      this._maxRedirects = undefined;
      this._method = undefined;
      this._timeout = undefined;
      this._withDns = undefined;
    }
    else if (cdktf.Tokenization.isResolvable(value)) {
      this.isEmptyObject = false;
      this.resolvableValue = value;
    }
    else {
      this.isEmptyObject = Object.keys(value).length === 0;
      this.resolvableValue = undefined;
      this._body.internalValue = value.body;
      this._headers.internalValue = value.headers;
      this._maxRedirects = value.maxRedirects;
      this._method = value.method;
      this._timeout = value.timeout;
      this._withDns = value.withDns;
    }
  }

  // body - computed: false, optional: true, required: false
  private _body = new ServiceEndpointsHttpBodyOutputReference(this, "body");
  public get body() {
    return this._body;
  }
  public putBody(value: ServiceEndpointsHttpBody) {
    this._body.internalValue = value;
  }
  public resetBody() {
    this._body.internalValue = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get bodyInput() {
    return this._body.internalValue;
  }

  // headers - computed: false, optional: true, required: false
  private _headers = new ServiceEndpointsHttpHeadersMap(this, "headers");
  public get headers() {
    return this._headers;
  }
  public putHeaders(value: { [key: string]: ServiceEndpointsHttpHeaders } | cdktf.IResolvable) {
    this._headers.internalValue = value;
  }
  public resetHeaders() {
    this._headers.internalValue = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get headersInput() {
    return this._headers.internalValue;
  }

  // max_redirects - computed: false, optional: true, required: false
  private _maxRedirects?: number; 
  public get maxRedirects() {
    return this.getNumberAttribute('max_redirects');
  }
  public set maxRedirects(value: number) {
    this._maxRedirects = value;
  }
  public resetMaxRedirects() {
    this._maxRedirects = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get maxRedirectsInput() {
    return this._maxRedirects;
  }

  // method - computed: false, optional: false, required: true
  private _method?: string; 
  public get method() {
    return this.getStringAttribute('method');
  }
  public set method(value: string) {
    this._method = value;
  }
  // Temporarily expose input value. Use with caution.
  public get methodInput() {
    return this._method;
  }

  // timeout - computed: false, optional: true, required: false
  private _timeout?: string; 
  public get timeout() {
    return this.getStringAttribute('timeout');
  }
  public set timeout(value: string) {
    this._timeout = value;
  }
  public resetTimeout() {
    this._timeout = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get timeoutInput() {
    return this._timeout;
  }

  // with_dns - computed: false, optional: true, required: false
  private _withDns?: boolean | cdktf.IResolvable; 
  public get withDns() {
    return this.getBooleanAttribute('with_dns');
  }
  public set withDns(value: boolean | cdktf.IResolvable) {
    this._withDns = value;
  }
  public resetWithDns() {
    this._withDns = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get withDnsInput() {
    return this._withDns;
  }
}
export interface ServiceEndpoints {
  /**
  * Conditions of a successful check, each of exactly one kind. Default: none. API: `assertions`.
  */
  readonly assertions?: ServiceEndpointsAssertions[] | cdktf.IResolvable;
  /**
  * The HTTP request to make. API: `call.Http`.
  */
  readonly http: ServiceEndpointsHttp;
  /**
  * Name of the endpoint; an empty string is a name too. Default: none. API: `name`.
  */
  readonly name?: string;
  /**
  * Absolute `http://` or `https://` URL. API: `url`.
  */
  readonly url: string;
}

export function serviceEndpointsToTerraform(struct?: ServiceEndpoints | cdktf.IResolvable): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  return {
    assertions: cdktf.listMapper(serviceEndpointsAssertionsToTerraform, false)(struct!.assertions),
    http: serviceEndpointsHttpToTerraform(struct!.http),
    name: cdktf.stringToTerraform(struct!.name),
    url: cdktf.stringToTerraform(struct!.url),
  }
}


export function serviceEndpointsToHclTerraform(struct?: ServiceEndpoints | cdktf.IResolvable): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  const attrs = {
    assertions: {
      value: cdktf.listMapperHcl(serviceEndpointsAssertionsToHclTerraform, false)(struct!.assertions),
      isBlock: true,
      type: "list",
      storageClassType: "ServiceEndpointsAssertionsList",
    },
    http: {
      value: serviceEndpointsHttpToHclTerraform(struct!.http),
      isBlock: true,
      type: "struct",
      storageClassType: "ServiceEndpointsHttp",
    },
    name: {
      value: cdktf.stringToHclTerraform(struct!.name),
      isBlock: false,
      type: "simple",
      storageClassType: "string",
    },
    url: {
      value: cdktf.stringToHclTerraform(struct!.url),
      isBlock: false,
      type: "simple",
      storageClassType: "string",
    },
  };

  // remove undefined attributes
  return Object.fromEntries(Object.entries(attrs).filter(([_, value]) => value !== undefined && value.value !== undefined));
}

export class ServiceEndpointsOutputReference extends cdktf.ComplexObject {
  private isEmptyObject = false;
  private resolvableValue?: cdktf.IResolvable;

  /**
  * @param terraformResource The parent resource
  * @param terraformAttribute The attribute on the parent resource this class is referencing
  * @param complexObjectIndex the index of this item in the list
  * @param complexObjectIsFromSet whether the list is wrapping a set (will add tolist() to be able to access an item via an index)
  */
  public constructor(terraformResource: cdktf.IInterpolatingParent, terraformAttribute: string, complexObjectIndex: number, complexObjectIsFromSet: boolean) {
    super(terraformResource, terraformAttribute, complexObjectIsFromSet, complexObjectIndex);
  }

  public get internalValue(): ServiceEndpoints | cdktf.IResolvable | undefined {
    if (this.resolvableValue) {
      return this.resolvableValue;
    }
    let hasAnyValues = this.isEmptyObject;
    const internalValueResult: any = {};
    if (this._assertions?.internalValue !== undefined) {
      hasAnyValues = true;
      internalValueResult.assertions = this._assertions?.internalValue;
    }
    if (this._http?.internalValue !== undefined) {
      hasAnyValues = true;
      internalValueResult.http = this._http?.internalValue;
    }
    if (this._name !== undefined) {
      hasAnyValues = true;
      internalValueResult.name = this._name;
    }
    if (this._url !== undefined) {
      hasAnyValues = true;
      internalValueResult.url = this._url;
    }
    return hasAnyValues ? internalValueResult : undefined;
  }

  public set internalValue(value: ServiceEndpoints | cdktf.IResolvable | undefined) {
    if (value === undefined) {
      this.isEmptyObject = false;
      this.resolvableValue = undefined;
      this._assertions.internalValue = undefined;
      this._http.internalValue = undefined;
      this._name = undefined;
      this._url = undefined;
    }
    else if (cdktf.Tokenization.isResolvable(value)) {
      this.isEmptyObject = false;
      this.resolvableValue = value;
    }
    else {
      this.isEmptyObject = Object.keys(value).length === 0;
      this.resolvableValue = undefined;
      this._assertions.internalValue = value.assertions;
      this._http.internalValue = value.http;
      this._name = value.name;
      this._url = value.url;
    }
  }

  // assertions - computed: false, optional: true, required: false
  private _assertions = new ServiceEndpointsAssertionsList(this, "assertions", false);
  public get assertions() {
    return this._assertions;
  }
  public putAssertions(value: ServiceEndpointsAssertions[] | cdktf.IResolvable) {
    this._assertions.internalValue = value;
  }
  public resetAssertions() {
    this._assertions.internalValue = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get assertionsInput() {
    return this._assertions.internalValue;
  }

  // http - computed: false, optional: false, required: true
  private _http = new ServiceEndpointsHttpOutputReference(this, "http");
  public get http() {
    return this._http;
  }
  public putHttp(value: ServiceEndpointsHttp) {
    this._http.internalValue = value;
  }
  // Temporarily expose input value. Use with caution.
  public get httpInput() {
    return this._http.internalValue;
  }

  // name - computed: false, optional: true, required: false
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

  // url - computed: false, optional: false, required: true
  private _url?: string; 
  public get url() {
    return this.getStringAttribute('url');
  }
  public set url(value: string) {
    this._url = value;
  }
  // Temporarily expose input value. Use with caution.
  public get urlInput() {
    return this._url;
  }
}

export class ServiceEndpointsList extends cdktf.ComplexList {
  public internalValue? : ServiceEndpoints[] | cdktf.IResolvable

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
  public get(index: number): ServiceEndpointsOutputReference {
    return new ServiceEndpointsOutputReference(this.terraformResource, this.terraformAttribute, index, this.wrapsSet);
  }
}
export interface ServiceTimeouts {
  /**
  * Time limit for creating the service, including its pause. Default: `10m`.
  */
  readonly create?: string;
  /**
  * Time limit for deleting the service. Default: `10m`.
  */
  readonly delete?: string;
  /**
  * Time limit for reading the service, default `10m`, and for the list of regions in a plan, default `1m`.
  */
  readonly read?: string;
  /**
  * Time limit for changing the service. Default: `10m`.
  */
  readonly update?: string;
}

export function serviceTimeoutsToTerraform(struct?: ServiceTimeouts | cdktf.IResolvable): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  return {
    create: cdktf.stringToTerraform(struct!.create),
    delete: cdktf.stringToTerraform(struct!.delete),
    read: cdktf.stringToTerraform(struct!.read),
    update: cdktf.stringToTerraform(struct!.update),
  }
}


export function serviceTimeoutsToHclTerraform(struct?: ServiceTimeouts | cdktf.IResolvable): any {
  if (!cdktf.canInspect(struct) || cdktf.Tokenization.isResolvable(struct)) { return struct; }
  if (cdktf.isComplexElement(struct)) {
    throw new Error("A complex element was used as configuration, this is not supported: https://cdk.tf/complex-object-as-configuration");
  }
  const attrs = {
    create: {
      value: cdktf.stringToHclTerraform(struct!.create),
      isBlock: false,
      type: "simple",
      storageClassType: "string",
    },
    delete: {
      value: cdktf.stringToHclTerraform(struct!.delete),
      isBlock: false,
      type: "simple",
      storageClassType: "string",
    },
    read: {
      value: cdktf.stringToHclTerraform(struct!.read),
      isBlock: false,
      type: "simple",
      storageClassType: "string",
    },
    update: {
      value: cdktf.stringToHclTerraform(struct!.update),
      isBlock: false,
      type: "simple",
      storageClassType: "string",
    },
  };

  // remove undefined attributes
  return Object.fromEntries(Object.entries(attrs).filter(([_, value]) => value !== undefined && value.value !== undefined));
}

export class ServiceTimeoutsOutputReference extends cdktf.ComplexObject {
  private isEmptyObject = false;
  private resolvableValue?: cdktf.IResolvable;

  /**
  * @param terraformResource The parent resource
  * @param terraformAttribute The attribute on the parent resource this class is referencing
  */
  public constructor(terraformResource: cdktf.IInterpolatingParent, terraformAttribute: string) {
    super(terraformResource, terraformAttribute, false);
  }

  public get internalValue(): ServiceTimeouts | cdktf.IResolvable | undefined {
    if (this.resolvableValue) {
      return this.resolvableValue;
    }
    let hasAnyValues = this.isEmptyObject;
    const internalValueResult: any = {};
    if (this._create !== undefined) {
      hasAnyValues = true;
      internalValueResult.create = this._create;
    }
    if (this._delete !== undefined) {
      hasAnyValues = true;
      internalValueResult.delete = this._delete;
    }
    if (this._read !== undefined) {
      hasAnyValues = true;
      internalValueResult.read = this._read;
    }
    if (this._update !== undefined) {
      hasAnyValues = true;
      internalValueResult.update = this._update;
    }
    return hasAnyValues ? internalValueResult : undefined;
  }

  public set internalValue(value: ServiceTimeouts | cdktf.IResolvable | undefined) {
    if (value === undefined) {
      this.isEmptyObject = false;
      this.resolvableValue = undefined;
      this._create = undefined;
      this._delete = undefined;
      this._read = undefined;
      this._update = undefined;
    }
    else if (cdktf.Tokenization.isResolvable(value)) {
      this.isEmptyObject = false;
      this.resolvableValue = value;
    }
    else {
      this.isEmptyObject = Object.keys(value).length === 0;
      this.resolvableValue = undefined;
      this._create = value.create;
      this._delete = value.delete;
      this._read = value.read;
      this._update = value.update;
    }
  }

  // create - computed: false, optional: true, required: false
  private _create?: string; 
  public get create() {
    return this.getStringAttribute('create');
  }
  public set create(value: string) {
    this._create = value;
  }
  public resetCreate() {
    this._create = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get createInput() {
    return this._create;
  }

  // delete - computed: false, optional: true, required: false
  private _delete?: string; 
  public get delete() {
    return this.getStringAttribute('delete');
  }
  public set delete(value: string) {
    this._delete = value;
  }
  public resetDelete() {
    this._delete = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get deleteInput() {
    return this._delete;
  }

  // read - computed: false, optional: true, required: false
  private _read?: string; 
  public get read() {
    return this.getStringAttribute('read');
  }
  public set read(value: string) {
    this._read = value;
  }
  public resetRead() {
    this._read = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get readInput() {
    return this._read;
  }

  // update - computed: false, optional: true, required: false
  private _update?: string; 
  public get update() {
    return this.getStringAttribute('update');
  }
  public set update(value: string) {
    this._update = value;
  }
  public resetUpdate() {
    this._update = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get updateInput() {
    return this._update;
  }
}

/**
* Represents a pharos_service
*/
export class Service extends cdktf.TerraformResource {

  // =================
  // STATIC PROPERTIES
  // =================
  public static readonly tfResourceType = "pharos_service";

  // ==============
  // STATIC Methods
  // ==============
  /**
  * Generates CDKTF code for importing a Service resource upon running "cdktf plan <stack-name>"
  * @param scope The scope in which to define this construct
  * @param importToId The construct id used in the generated config for the Service to import
  * @param importFromId The id of the existing Service that should be imported. Refer to the import section in the documentation of this resource for the id to use
  * @param provider? Optional instance of the provider where the Service to import is found
  */
  public static generateConfigForImport(scope: Construct, importToId: string, importFromId: string, provider?: cdktf.TerraformProvider) {
        return new cdktf.ImportableResource(scope, importToId, { terraformResourceType: "pharos_service", importId: importFromId, provider });
      }

  // ===========
  // INITIALIZER
  // ===========

  /**
  * Create a new pharos_service Resource
  *
  * @param scope The scope in which to define this construct
  * @param id The scoped construct ID. Must be unique amongst siblings in the same scope
  * @param options ServiceConfig
  */
  public constructor(scope: Construct, id: string, config: ServiceConfig) {
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
    this._endpoints.internalValue = config.endpoints;
    this._interval = config.interval;
    this._name = config.name;
    this._paused = config.paused;
    this._regions = config.regions;
    this._timeouts.internalValue = config.timeouts;
  }

  // ==========
  // ATTRIBUTES
  // ==========

  // auto_incident - computed: true, optional: false, required: false
  private _autoIncident = new ServiceAutoIncidentOutputReference(this, "auto_incident");
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

  // endpoints - computed: false, optional: false, required: true
  private _endpoints = new ServiceEndpointsList(this, "endpoints", false);
  public get endpoints() {
    return this._endpoints;
  }
  public putEndpoints(value: ServiceEndpoints[] | cdktf.IResolvable) {
    this._endpoints.internalValue = value;
  }
  // Temporarily expose input value. Use with caution.
  public get endpointsInput() {
    return this._endpoints.internalValue;
  }

  // endpoints_blocked - computed: true, optional: false, required: false
  private _endpointsBlocked = new cdktf.BooleanList(this, "endpoints_blocked", false);
  public get endpointsBlocked() {
    return this._endpointsBlocked;
  }

  // id - computed: true, optional: false, required: false
  public get id() {
    return this.getStringAttribute('id');
  }

  // interval - computed: false, optional: false, required: true
  private _interval?: string; 
  public get interval() {
    return this.getStringAttribute('interval');
  }
  public set interval(value: string) {
    this._interval = value;
  }
  // Temporarily expose input value. Use with caution.
  public get intervalInput() {
    return this._interval;
  }

  // name - computed: false, optional: false, required: true
  private _name?: string; 
  public get name() {
    return this.getStringAttribute('name');
  }
  public set name(value: string) {
    this._name = value;
  }
  // Temporarily expose input value. Use with caution.
  public get nameInput() {
    return this._name;
  }

  // org_id - computed: true, optional: false, required: false
  public get orgId() {
    return this.getStringAttribute('org_id');
  }

  // paused - computed: true, optional: true, required: false
  private _paused?: boolean | cdktf.IResolvable; 
  public get paused() {
    return this.getBooleanAttribute('paused');
  }
  public set paused(value: boolean | cdktf.IResolvable) {
    this._paused = value;
  }
  public resetPaused() {
    this._paused = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get pausedInput() {
    return this._paused;
  }

  // paused_at - computed: true, optional: false, required: false
  public get pausedAt() {
    return this.getStringAttribute('paused_at');
  }

  // regions - computed: false, optional: false, required: true
  private _regions?: string[]; 
  public get regions() {
    return cdktf.Fn.tolist(this.getListAttribute('regions'));
  }
  public set regions(value: string[]) {
    this._regions = value;
  }
  // Temporarily expose input value. Use with caution.
  public get regionsInput() {
    return this._regions;
  }

  // sealed_key_ids - computed: true, optional: false, required: false
  private _sealedKeyIds = new cdktf.StringMap(this, "sealed_key_ids");
  public get sealedKeyIds() {
    return this._sealedKeyIds;
  }

  // secrets_revision - computed: true, optional: false, required: false
  public get secretsRevision() {
    return this.getNumberAttribute('secrets_revision');
  }

  // timeouts - computed: false, optional: true, required: false
  private _timeouts = new ServiceTimeoutsOutputReference(this, "timeouts");
  public get timeouts() {
    return this._timeouts;
  }
  public putTimeouts(value: ServiceTimeouts) {
    this._timeouts.internalValue = value;
  }
  public resetTimeouts() {
    this._timeouts.internalValue = undefined;
  }
  // Temporarily expose input value. Use with caution.
  public get timeoutsInput() {
    return this._timeouts.internalValue;
  }

  // =========
  // SYNTHESIS
  // =========

  protected synthesizeAttributes(): { [name: string]: any } {
    return {
      endpoints: cdktf.listMapper(serviceEndpointsToTerraform, false)(this._endpoints.internalValue),
      interval: cdktf.stringToTerraform(this._interval),
      name: cdktf.stringToTerraform(this._name),
      paused: cdktf.booleanToTerraform(this._paused),
      regions: cdktf.listMapper(cdktf.stringToTerraform, false)(this._regions),
      timeouts: serviceTimeoutsToTerraform(this._timeouts.internalValue),
    };
  }

  protected synthesizeHclAttributes(): { [name: string]: any } {
    const attrs = {
      endpoints: {
        value: cdktf.listMapperHcl(serviceEndpointsToHclTerraform, false)(this._endpoints.internalValue),
        isBlock: true,
        type: "list",
        storageClassType: "ServiceEndpointsList",
      },
      interval: {
        value: cdktf.stringToHclTerraform(this._interval),
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
      paused: {
        value: cdktf.booleanToHclTerraform(this._paused),
        isBlock: false,
        type: "simple",
        storageClassType: "boolean",
      },
      regions: {
        value: cdktf.listMapperHcl(cdktf.stringToHclTerraform, false)(this._regions),
        isBlock: false,
        type: "set",
        storageClassType: "stringList",
      },
      timeouts: {
        value: serviceTimeoutsToHclTerraform(this._timeouts.internalValue),
        isBlock: true,
        type: "struct",
        storageClassType: "ServiceTimeouts",
      },
    };

    // remove undefined attributes
    return Object.fromEntries(Object.entries(attrs).filter(([_, value]) => value !== undefined && value.value !== undefined ))
  }
}
