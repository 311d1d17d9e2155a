import CommandSupport
import KymographTestKit
import Testing

@testable import Kymograph

/// Pages of a search that has no time.
@Suite struct SearchPageTests {
    /// Each gets somewhere all the same, and all of them together have what there is, in order.
    @Test(arguments: [WalkOrder.Key.date, .change]) func withoutTime(key: WalkOrder.Key) throws {
        let stored = StoredRun()
        try stored.run(WardReadings.many(seed: 3))
        let reader = try StoreReader(directory: stored.data)
        let former = try reader.formerTypes()
        let set = try #require(ConfigurationLoader.checkMappings(PipelineSettings(), continuingStored: former).set)
        var options = PipelineSettings().output
        (options.write, options.format) = (.putByID, .ndjson)
        func search(_ time: Duration) -> ObservationSearch {
            var query = SearchQuery()
            (query.order.key, query.count) = (key, 1_000)
            return ObservationSearch(
                query: query, rights: SearchRights(rule: PeerRule()), former: former, set: set, options: options,
                time: time)
        }
        let whole = try reader.read { try search(.seconds(60)).page(after: nil, $0) }
        #expect(whole.observations.count > 100 && whole.next == nil)
        var (ids, place, pages): ([String], WalkPlace?, Int) = ([], nil, 0)
        repeat {
            let page = try reader.read { try search(.zero).page(after: place, $0) }
            #expect(page.next.map { next in place.map { $0 < next } ?? true } ?? true)
            ids += page.observations.map(\.id)
            (place, pages) = (page.next, pages + 1)
        } while place != nil && pages < 10_000
        #expect(ids == whole.observations.map(\.id) && pages > 10)
    }
}
