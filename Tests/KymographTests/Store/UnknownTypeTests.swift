import GRDB
import KymographCore
@testable import KymographTemplates
import Testing

@testable import Kymograph

/// A type in a form that this version does not know, as a later one may leave: the others keep their numbers, and what
/// they mean.
@Suite struct UnknownTypeTests {
    private static let minute = DurableRehearsal.start.nanoseconds / 1_000_000_000 / 60 * 60

    private static func line(_ type: String, _ value: Int, unit: String) -> [UInt8] {
        let text = Instant(seconds: minute).text
        return Array(
            """
            {"deviceId":"watch-1","type":"\(type)","timestamp":"\(text)","value":\(value),"unit":"\(unit)"}
            """.utf8)
    }

    /// Lets go of the store.
    private func fill(_ scratch: Scratch, _ set: MappingSet, _ lines: [[UInt8]]) throws {
        var run = try StoredRun(scratch.path, set: set)
        try run.take(lines, delivers: true)
        try run.end()
    }

    /// A store with readings of two types, in which the form of the type that `number` gives is `form`.
    private func store(_ set: MappingSet, _ number: Int, form: String) throws -> Scratch {
        let scratch = Scratch()
        let lines = [Self.line("glucose", 90, unit: "mg/dL"), Self.line("bodyTemperature", 37, unit: "Cel")]
        try fill(scratch, set, lines)
        let store = try Store(path: scratch.path)
        defer { store.close() }
        try store.pool.write { db in
            try db.execute(sql: "UPDATE type SET form = \(form) WHERE number = ?", arguments: [number])
        }
        return scratch
    }

    /// A grouping of a later version, and what is not even a type.
    private static let forms = ["json_set(form, '$.grouping', 'calendar-month')", "'{\"title\": \"x\"}'"]

    @Test(arguments: forms) func theOthersKeepTheirNumbers(form: String) throws {
        let set = try #require(PipelineRehearsal.reading)
        let names = set.types.map(\.name)
        let first = try #require(names.firstIndex(of: "heartRate"))
        let glucose = try #require(names.firstIndex(of: "glucoseMass"))
        try #require(first < glucose, "the type that is not known has to come first")
        let scratch = try store(set, first, form: form)
        let reader = try StoreReader(directory: scratch.path)
        let types = try reader.types()
        #expect(types.indices.filter { types[$0].isUnknown } == [first])
        #expect(types.indices.allSatisfy { $0 == first || types[$0].name == names[$0] })
        #expect(try reader.formerTypes().map(\.type.name) == types.map(\.name))
        var filter = ArchiveFilter()
        filter.typeNames = ["glucoseMass"]
        #expect(try reader.windows(filter, limit: 10).map(\.series.type) == [glucose])
        let all = try reader.ledger(ArchiveFilter(), isRunning: false)
        #expect(Set(all.series.map(\.type)) == ["glucoseMass", "bodyTemperature"] && all.balance.accepted == 2)
    }

    /// Of readings whose type is not known nothing is shown, as they are counted.
    @Test(arguments: forms) func itsReadingsAreCountedAndNotShown(form: String) throws {
        let set = try #require(PipelineRehearsal.reading)
        let glucose = try #require(set.types.firstIndex { $0.name == "glucoseMass" })
        let scratch = try store(set, glucose, form: form)
        let reader = try StoreReader(directory: scratch.path)
        let windows = try reader.windows(ArchiveFilter(), limit: 10)
        #expect(windows.map { set.types[$0.series.type].name } == ["bodyTemperature"])
        let report = try reader.ledger(ArchiveFilter(), isRunning: false)
        #expect(report.balance.accepted == 2 && report.balance.lost == 0)
        let former = try reader.formerTypes()
        let result = MappingContinuity.join(set, afterStored: former, mappings: [])
        let joined = try #require(result.set, "\(result.diagnostics)")
        #expect(ArchiveEncoder.unwritable(joined, stored: former) == ["type \(glucose) (unknown form)"])
    }
}
