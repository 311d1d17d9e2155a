@testable import Kymograph
import KymographCore
@testable import KymographTemplates
import KymographTestKit
import Testing

/// With each archived window the store names the sinks that its Observations are for, and who of them waits.
@Suite struct WindowSinksTests {
    private static let device = """
        {"templateType": "CollectionContent", "template": [{"templateType": "JsonPathContent", "template": {
          "typeName": "t", "typeMatchExpression": "$..[?(@d)]", "deviceIdExpression": "$.d",
          "timestampExpression": "$.t", "timestampFormat": "epoch-s",
          "values": [{"valueName": "a", "valueExpression": "$.a"}, {"valueName": "b", "valueExpression": "$.b"}]}}]}
        """
    private static let fhir = """
        {"templateType": "CollectionFhir", "template": [{"templateType": "CodeValueFhir", "template": {
          "typeName": "t", "period": "PERIOD", "codes": [{"system": "urn:x", "code": "t"}],
          "value": {"valueType": "VALUE", "valueName": "a", "unit": "mm", "code": "mm"}}}]}
        """

    /// One Observation per reading, or statistics of five minutes.
    private static func set(isInstance: Bool) throws -> MappingSet {
        let fhir = fhir.replacing("PERIOD", with: isInstance ? "instance" : "5m")
            .replacing("VALUE", with: isInstance ? "Quantity" : "Statistics")
        let mapping = NamedMapping(
            name: "m", device: MappingFile(name: "device.json", bytes: Array(device.utf8)),
            fhir: MappingFile(name: "fhir.json", bytes: Array(fhir.utf8)))
        return try #require(MappingLoader.load([mapping]).set)
    }

    /// A run with sinks, none of which takes anything by itself.
    private struct Run: ~Copyable {
        private let store: Store
        private let outboxes: [StoredOutbox]
        private var commit: StoreCommit
        private var rehearsal: DurableRehearsal

        init(_ scratch: Scratch, _ set: MappingSet, sinks: [String] = ["a", "b"], _ filters: [SinkFilter] = []) throws {
            let store = try Store(path: scratch.path)
            let outboxes = try sinks.map { try StoredOutbox(store, sink: $0) }
            try store.begin(sinks: sinks)
            store.begin(shards: 1)
            (self.store, self.outboxes) = (store, outboxes)
            commit = StoreCommit(store, MappingExchange(set))
            rehearsal = DurableRehearsal(set: set, store: store, sources: 2, filters: filters)
            rehearsal.begin { _ in }
        }

        /// Takes a reading, and what comes of it at once.
        mutating func take(_ text: String, source: Int = 0) throws {
            add(text, source: source)
            rehearsal.handOver()
            try persist()
        }

        /// Takes a reading that waits for more.
        mutating func add(_ text: String, source: Int = 0) {
            rehearsal.take(Array("{\(text)}".utf8), source: source)
        }

        /// Closes everything; another run may follow.
        consuming func end() throws {
            rehearsal.drain()
            try persist()
            store.close()
        }

        /// Settles one row of sink `number`, or all.
        mutating func settle(_ number: Int, all: Bool = true) throws {
            let outbox = outboxes[number]
            repeat {
                guard let row = outbox.rows(after: outbox.settledThrough, bytes: 1, milliseconds: 0).first else {
                    break
                }
                outbox.settle(through: row.number, receipts: [], undeliverable: [])
            } while all
            try persist()
        }

        private mutating func persist() throws {
            let (batch, submitted) = store.queue.take()
            try commit.commit(batch, now: DurableRehearsal.start)
            store.queue.commit(batch, through: submitted)
        }
    }

    private static func filter(devices: String...) -> SinkFilter {
        var filter = SinkFilter()
        filter.devices = devices.map(NamePattern.init)
        return filter
    }

    /// What the ledger says of the first window of `device`.
    private func window(_ scratch: Scratch, of device: String = "x") throws -> LedgerReport.Window {
        var filter = ArchiveFilter()
        filter.devices = [IdentifierText(device)]
        let report = try StoreReader(directory: scratch.path).ledger(filter, isRunning: false)
        return try #require(report.windows.first)
    }

    /// Single readings leave before their window is archived, which may be in a unit with another device's bundle.
    @Test func singleReadings() throws {
        let set = try Self.set(isInstance: true)
        let scratch = Scratch()
        let filters = [Self.filter(devices: "x"), Self.filter(devices: "y")]
        var run = try Run(scratch, set, filters)
        try run.take(#""d":"x","t":300,"a":1"#)
        try run.take(#""d":"y","t":300,"a":1"#)
        try run.take(#""d":"x","t":301,"a":1"#)
        try run.settle(0, all: false)
        run.add(#""d":"y","t":301,"a":1"#)
        try run.end()
        #expect(try window(scratch).delivered == ["a": false], "it has one of two")
        #expect(try window(scratch, of: "y").delivered == ["b": false])
        var next = try Run(scratch, set, filters)
        try next.settle(0)
        try next.end()
        #expect(try window(scratch).delivered == ["a": true])
        #expect(try window(scratch, of: "y").delivered == ["b": false])
    }

    /// Single readings of one window may be for different sinks, and the last for none.
    @Test func singleReadingsOfSeveralSources() throws {
        let scratch = Scratch()
        var (first, second) = (SinkFilter(), SinkFilter())
        (first.sources, second.sources) = ([0], [1])
        var run = try Run(scratch, try Self.set(isInstance: true), [first, second])
        try run.take(#""d":"x","t":300,"a":1"#, source: 0)
        try run.take(#""d":"y","t":300,"a":1"#, source: 0)
        try run.take(#""d":"x","t":301,"a":1"#, source: 1)
        try run.take(#""d":"y","t":301,"b":1"#, source: 0)
        try run.end()
        #expect(try window(scratch).delivered == ["a": false, "b": false])
        #expect(try window(scratch, of: "y").delivered == ["a": false])
    }

    /// A sum that no longer fits 18 digits: the Observation that waits stays what its sinks are to get.
    @Test func aWithheldAmendment() throws {
        let scratch = Scratch()
        var run = try Run(scratch, try Self.set(isInstance: false))
        try run.take(#""d":"x","t":300,"a":900000000000000000"#)
        try run.take(#""d":"x","t":1300,"a":1"#)
        #expect(try window(scratch).delivered == ["a": false, "b": false])
        try run.take(#""d":"x","t":301,"a":0.00000000000000001"#)
        try run.end()
        let found = try window(scratch)
        #expect(found.revision == 2 && found.readings == 2)
        #expect(found.delivered == ["a": false, "b": false])
    }

    /// Newer filters give an amendment to others, or to nobody: who waits for the version before it still waits.
    @Test(arguments: [true, false]) func anAmendmentForOthers(isForNobody: Bool) throws {
        let set = try Self.set(isInstance: false)
        let scratch = Scratch()
        var run = try Run(scratch, set, [Self.filter(devices: "x"), Self.filter(devices: "y")])
        try run.take(#""d":"x","t":300,"a":1"#)
        try run.end()
        #expect(try window(scratch).delivered == ["a": false])
        let others = Self.filter(devices: isForNobody ? "y" : "x")
        var second = try Run(scratch, set, [Self.filter(devices: "y"), others])
        try second.take(#""d":"x","t":301,"a":2"#)
        try second.end()
        let found = try window(scratch)
        #expect(found.revision == 2)
        #expect(found.delivered == (isForNobody ? ["a": false] : ["a": false, "b": false]))
        // It has what there was for it: the next amendment is none of its business.
        var third = try Run(scratch, set, [Self.filter(devices: "y"), Self.filter(devices: "x")])
        try third.settle(0)
        try third.take(#""d":"x","t":302,"a":2"#)
        try third.end()
        #expect(try window(scratch).delivered == ["b": false])
    }

    /// What was given up for a sink stays so until it gets a newer version.
    @Test func anAmendmentAfterASinkWasEnded() throws {
        let set = try Self.set(isInstance: false)
        let scratch = Scratch()
        for (round, sinks) in [["a", "b"], ["b"], ["b"], ["a", "b"]].enumerated() {
            var run = try Run(scratch, set, sinks: sinks)
            try run.take(#""d":"x","t":\#(300 + round),"a":1"#)
            try run.end()
            let found = try window(scratch)
            #expect(found.revision == round + 1)
            #expect(found.delivered == Dictionary(uniqueKeysWithValues: sinks.map { ($0, false) }))
            #expect(found.givenUp == (sinks == ["b"] ? ["a"] : []))
        }
    }
}
