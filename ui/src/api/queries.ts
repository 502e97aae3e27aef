import { type InvalidateOptions, type InvalidateQueryFilters, QueryClient, type QueryKey } from "@tanstack/react-query";

/**
 * The client of all queries. What changes while something is loaded is not in the answer that is under way. TanStack
 * asks again at once only where there is an answer already and a page shows it. Elsewhere the answer that comes would
 * count as new: here it is asked for again, or marked as old if no page shows it.
 */
export class Queries extends QueryClient {
  override async invalidateQueries<TKey extends QueryKey = QueryKey>(
    filters?: InvalidateQueryFilters<TKey>,
    options?: InvalidateOptions,
  ): Promise<void> {
    const loading = this.getQueryCache()
      .findAll(filters)
      .filter(
        (query) => query.state.fetchStatus === "fetching" && (query.state.data === undefined || !query.isActive()),
      );
    const begun = super.invalidateQueries(filters, options);
    if (loading.length) {
      await Promise.allSettled(loading.map((query) => query.promise));
      await super.invalidateQueries({ predicate: (query) => loading.some((one) => one === query) }, options);
    }
    await begun;
  }
}
