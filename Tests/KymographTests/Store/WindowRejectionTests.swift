import GRDB
@testable import Kymograph
import KymographCore
@testable import KymographTemplates
import KymographTestKit
import Testing

/// The readings of a window that gives no Observation are dead letters when the window is in the archive, not before.
@Suite struct WindowRejectionTests {
    private static let device = """
        {"templateType": "CollectionContent", "template": [{"templateType": "JsonPathContent", "template": {
          "typeName": "t", "typeMatchExpression": "$..[?(@d)]", "deviceIdExpression": "$.d",
          "timestampExpression": "$.t", "timestampFormat": "epoch-s",
          "values": [{"valueName": "a", "valueExpression": "$.a"}, {"valueName": "b", "valueExpression": "$.b"}]}}]}
        """
    private static let fhir = """
        {"templateType": "CollectionFhir", "template": [{"templateType": "CodeValueFhir", "template": {
          "typeName": "t", "period": "PERIOD", "codes": [{"system": "urn:x", "code": "t"}],
          "value": {"valueType": "Quantity", "valueName": "a", "unit": "mm", "code": "mm"}}}]}
        """

    /// One run that is killed when it has done `body`: before windows come to the archive, unless it `archives`.
    private func run(
        _ scratch: Scratch, _ set: MappingSet, archives: Bool, _ body: (inout DurableRehearsal) -> Void
    ) throws {
        let store = try Store(path: scratch.path)
        defer { store.close() }
        store.begin(shards: 1)
        var commit = StoreCommit(store, MappingExchange(set))
        var rehearsal = DurableRehearsal(set: set, store: store)
        rehearsal.begin { _ = StoreReplay(store, shard: 0, of: 1).run(into: &$0) }
        body(&rehearsal)
        var batch = store.queue.take().batch
        if !archives { for index in batch.units.indices { _ = batch.units[index].splitWindows() } }
        try commit.commit(batch, now: DurableRehearsal.start)
        #expect(try store.value("SELECT count(*) FROM dead") == (archives ? 6 : 0))
        let counted = try store.pool.read { db in
            try LedgerTotals(db, open: OpenReadings(db, types: set.types)).balance
        }
        #expect(counted.rejected == (archives ? [Rejection.missingValue.name: 6] : [:]))
        #expect(counted.open == (archives ? 0 : 6) && counted.accepted == 0, "\(counted.text)")
    }

    /// Of a grouping by time, and of single readings, which are emitted long before their window is archived.
    @Test(arguments: ["5m", "instance"]) func theyComeWithTheWindow(period: String) throws {
        let mapping = NamedMapping(
            name: "m", device: MappingFile(name: "device.json", bytes: Array(Self.device.utf8)),
            fhir: MappingFile(
                name: "fhir.json", bytes: Array(Self.fhir.replacing("PERIOD", with: period).utf8)))
        let set = try #require(MappingLoader.load([mapping]).set)
        let scratch = Scratch()
        try run(scratch, set, archives: false) { rehearsal in
            for time in 0..<6 { rehearsal.take(Array(#"{"d":"x","t":\#(time),"b":1}"#.utf8)) }
            rehearsal.handOver()
        }
        try run(scratch, set, archives: false) { $0.drain() }
        try run(scratch, set, archives: true) { $0.drain() }
    }
}
