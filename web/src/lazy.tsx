// Pages that are loaded when they are needed.

import type { ComponentType, FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";

export function lazy<Props extends object>(get: () => Promise<ComponentType<Props>>): FunctionComponent<Props> {
  let loaded: ComponentType<Props> | null = null;
  return function Lazy(props: Props) {
    const [Component, setComponent] = useState<ComponentType<Props> | null>(() => loaded);
    const [hasFailed, setFailed] = useState(false);
    useEffect(() => {
      if (Component) return;
      get().then(
        (component) => {
          loaded = component;
          setComponent(() => component);
        },
        () => setFailed(true),
      );
    }, []);
    if (hasFailed) {
      return (
        <p class="page note bad" role="alert">
          This page could not be loaded. Is `agon web` still running?
        </p>
      );
    }
    return Component ? <Component {...props} /> : <p class="page muted">Loading …</p>;
  };
}
