import CommandSupport
import Kymograph
@testable import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// Tables of readings as pyarrow and DuckDB read them.
@Suite(.enabled(if: ParquetJudge.canRun, "KYMO_PYTHON names no Python with pyarrow and duckdb"))
struct ParquetFolderTests {
    typealias Files = CommandSupport.Files

    private static let day: Int64 = 86_400_000_000_000

    private static func kind(_ name: String) -> ReadingKind {
        let type = MeasurementType(
            name: name, valueNames: ["v", "w"], grouping: .correlation, isNumeric: [true, true])
        return ReadingKind(type, code: ReadingKind.Code(), fields: [ReadingKind.Field(), ReadingKind.Field()])
    }

    /// What the judge is to find, one object a line.
    private struct Expected {
        var text = ""

        mutating func add(_ time: Int64, _ device: String, _ type: String, _ name: String, _ number: Decimal64) {
            var writer = ByteWriter()
            writer.append("{\"time\":\(time),\"device\":\"".utf8.map { $0 })
            writer.appendJSON(device)
            writer.append("\",\"type\":\"")
            writer.appendJSON(type)
            writer.append("\",\"name\":\"\(name)\",\"value\":\"".utf8.map { $0 })
            writer.append(number)
            writer.append("\"}\n")
            text += writer.view.string
        }
    }

    /// More rows than a row group takes, numbers that repeat and numbers that do not, types with hostile names.
    @Test func severalRowGroups() throws {
        let output = TemporaryFolder()
        var random = SeededGenerator(seed: Trials.seed(1))
        var expected = Expected()
        let types = ["../../x", "a/b=c", "ü \n\u{1}%", String(repeating: "é", count: 120), "007"]
        let path = output.file("table")
        var folder = try ParquetFolder(
            path, decimals: 9, kinds: types.map(Self.kind), sources: [0: "udp"], notes: [("note", "ü")])
        var count = 0
        for (number, name) in types.enumerated() {
            for device in ["d", "../d=\n"] {
                folder.begin(SeriesIdentity(type: number, device: Array(device.utf8)), window: nil)
                for row in 0..<(number == 1 ? 140_000 : 40) {
                    var value = Decimal64(mantissa: Int64.random(in: -999...999, using: &random), exponent: -2)
                    if row % 3 == 0 {
                        value = Decimal64(mantissa: Int64.random(in: 0...1 << 58, using: &random), exponent: -9)
                    }
                    let time = 20_000 * Self.day + Int64(row) * 500_000_007
                    var reading = Measurement(instant: Instant(nanoseconds: time), received: Instant(nanoseconds: time))
                    reading.setInline(0, value)
                    expected.add(time, device, name, "v", value)
                    if row % 5 == 0 {
                        let second = Decimal64(mantissa: 5, exponent: Int8(row % 2 == 0 ? -30 : 3))
                        reading.setInline(1, second)
                        expected.add(time, device, name, "w", second)
                        count += 1
                    }
                    count += 1
                    try folder.append(reading, ByteView(""))
                }
                try folder.endWindow()
            }
        }
        #expect(try folder.publish() == types.count)
        #expect(folder.rows == count && folder.inexpressible > 0)
        #expect(Files.names(output.path) == ["table"])
        let rows = output.write("expected.ndjson", expected.text)
        let complaints = try ParquetJudge.complaints(["rows", path, rows, "--groups", "2"])
        #expect(complaints.isEmpty, "\(complaints)")
    }

    /// Readings of more days than files may grow at a time, in no order.
    @Test func manyDays() throws {
        let output = TemporaryFolder()
        var (random, expected) = (SeededGenerator(seed: Trials.seed(2)), Expected())
        var folder = try ParquetFolder(
            output.file("table"), decimals: 18, kinds: [Self.kind("t")], sources: [:], notes: [])
        for number in 0..<300 {
            let device = "d\(number % 7)"
            folder.begin(SeriesIdentity(type: 0, device: Array(device.utf8)), window: nil)
            let time = Int64.random(in: -60...20, using: &random) * Self.day + Int64(number)
            var reading = Measurement(instant: Instant(nanoseconds: time), received: Instant(nanoseconds: 0))
            let value = Decimal64(mantissa: Int64(number), exponent: 0)
            reading.setInline(0, value)
            expected.add(time, device, "t", "v", value)
            try folder.append(reading, ByteView(""))
            try folder.endWindow()
        }
        #expect(try folder.publish() > 60)
        let rows = output.write("expected.ndjson", expected.text)
        #expect(try ParquetJudge.complaints(["rows", output.file("table"), rows]) == "")
    }

    /// More types in turns than files were open once: one file of each all the same. And a window whose readings are
    /// centuries apart.
    @Test func manyTypesInTurns() throws {
        let output = TemporaryFolder()
        var expected = Expected()
        let types = (0..<60).map { "t\($0)" }
        var folder = try ParquetFolder(
            output.file("März"), decimals: 18, kinds: types.map(Self.kind), sources: [:], notes: [])
        func append(_ time: Int64, _ type: Int, _ value: Int64) throws {
            var reading = Measurement(instant: Instant(nanoseconds: time), received: Instant(nanoseconds: 0))
            reading.setInline(0, Decimal64(mantissa: value, exponent: 0))
            expected.add(time, "d", types[type], "v", Decimal64(mantissa: value, exponent: 0))
            try folder.append(reading, ByteView(""))
        }
        for round in 0..<5 {
            for type in types.indices {
                folder.begin(SeriesIdentity(type: type, device: Array("d".utf8)), window: nil)
                try append(20_000 * Self.day + Int64(round), type, Int64(round * 100 + type))
                try folder.endWindow()
            }
        }
        folder.begin(SeriesIdentity(type: 0, device: Array("d".utf8)), window: nil)
        for time in [-98_000 * Self.day, 20_500 * Self.day, -98_000 * Self.day + 1] { try append(time, 0, 7) }
        #expect(try folder.publish() == types.count + 2)
        let rows = output.write("expected.ndjson", expected.text)
        #expect(try ParquetJudge.complaints(["rows", output.file("März"), rows]) == "")
    }

    /// A live stream, whose receive times scatter by milliseconds to the microsecond, takes at most 4 bytes a reading:
    /// most of that for the receive time.
    @Test func liveHeartRates() throws {
        let output = TemporaryFolder()
        var random = SeededGenerator(seed: Trials.seed(3))
        var folder = try ParquetFolder(
            output.file("table"), decimals: 18, kinds: [Self.kind("heartRate")], sources: [0: "udp"], notes: [])
        var rates = (0..<8).map { 60 + Int64($0) * 5 }
        for hour in (0..<3).reversed() {
            for device in 0..<8 {
                let start = 20_000 * Self.day + Int64(hour) * 3_600_000_000_000
                folder.begin(
                    SeriesIdentity(type: 0, device: Array("watch-\(device)".utf8), patient: Array("p-\(device)".utf8)),
                    window: start..<start + 3_600_000_000_000)
                for second in 0..<3_600 {
                    rates[device] += [-1, 0, 0, 0, 1][Int.random(in: 0...4, using: &random)]
                    let time = start + Int64(second) * 1_000_000_000
                    let delay = Int64.random(in: 20_000...30_000, using: &random) * 1_000
                    var reading = Measurement(
                        instant: Instant(nanoseconds: time), received: Instant(nanoseconds: time + delay))
                    reading.setInline(0, Decimal64(mantissa: rates[device]))
                    try folder.append(reading, ByteView(""))
                }
                try folder.endWindow()
            }
        }
        #expect(try folder.publish() == 1 && folder.rows == 86_400)
        let size = Files.read("\(output.file("table"))/day=2024-10-04/type=heartRate/part-0.parquet").count
        #expect(size <= 4 * folder.rows, "\(Double(size) / Double(folder.rows)) bytes a reading")
        print("live heart rates: \(Double(size) / Double(folder.rows)) bytes a reading")
    }

    /// What fails leaves nothing; what an earlier export has written stays as it is.
    @Test func anEarlierExport() throws {
        let output = TemporaryFolder()
        let path = output.file("table")
        func export() throws {
            var folder = try ParquetFolder(path, decimals: 0, kinds: [Self.kind("t")], sources: [:], notes: [])
            do {
                for day in [20_000, 20_001] {
                    folder.begin(SeriesIdentity(type: 0, device: [100]), window: nil)
                    let instant = Instant(nanoseconds: Int64(day) * Self.day)
                    try folder.append(Measurement(instant: instant, received: instant), ByteView(""))
                }
                _ = try folder.publish()
            } catch {
                folder.abandon()
                throw error
            }
        }
        try export()
        let part = "\(path)/day=2024-10-04/type=t/part-0.parquet"
        #expect(Files.exists(part) && Files.mode(part) == 0o600 && Files.mode(path) == 0o700)
        let former = Files.read(part)
        try #require(throws: SinkError.self) { try export() }
        #expect(Files.read(part) == former)
        Files.move("\(path)/day=2024-10-04", to: output.file("moved"))
        try #require(throws: SinkError.self) { try export() }
        #expect(Files.names(path) == ["day=2024-10-05"])
        #expect(Files.names("\(path)/day=2024-10-05/type=t") == ["part-0.parquet"])
    }

    /// Files of a bulk export end where they are large, and the manifest counts what is in each.
    @Test func largeBulkFiles() throws {
        let output = TemporaryFolder()
        var folder = try BulkFolder(output.file("bulk"), base: "https://h/\"", mostBytes: 100)
        for number in 0..<5 {
            try folder.append(
                Array("{\"resourceType\":\"Observation\",\"id\":\"\(number)\",\"x\":\"0123456789\"}".utf8))
        }
        try folder.append(Array(#"{"resourceType":"Device","id":"d"}"#.utf8))
        #expect(try folder.publish(at: Instant(nanoseconds: 0)) == 4)
        let names = Files.names(output.file("bulk"))
        #expect(names == ["Device-0.ndjson"] + (0..<3).map { "Observation-\($0).ndjson" } + ["manifest.json"])
        let manifest = try JSONTree(parsing: Files.read(output.file("bulk/manifest.json")))
        let output3 = manifest["output"]?.elements ?? []
        #expect(output3.map { $0["count"] } == [.number("1"), .number("2"), .number("2"), .number("1")])
        #expect(output3.first?["url"]?.text == "https://h/\"Device-0.ndjson")
        #expect(throws: SinkError.self) { _ = try BulkFolder(output.file("bulk"), base: "") }
    }
}
