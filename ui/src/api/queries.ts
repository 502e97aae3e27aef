import { type InvalidateOptions, type InvalidateQueryFilters, QueryClient, type QueryKey } from "@tanstack/react-query";

/**
 * The client of all queries. What changes while a list is loaded for the first time is not in the answer
 * that is under way, and TanStack asks again only where there is an answer already: here it asks again then, too.
 */
export class Queries extends QueryClient {
  override async invalidateQueries<TKey extends QueryKey = QueryKey>(
    filters?: InvalidateQueryFilters<TKey>,
    options?: InvalidateOptions,
  ): Promise<void> {
    const loading = this.getQueryCache()
      .findAll(filters)
      .filter((query) => query.state.fetchStatus === "fetching" && query.state.data === undefined);
    const begun = super.invalidateQueries(filters, options);
    if (loading.length) {
      await Promise.allSettled(loading.map((query) => query.promise));
      await super.invalidateQueries({ predicate: (query) => loading.some((one) => one === query) }, options);
    }
    await begun;
  }
}
