import Kymograph
import KymographCore

/// The payloads that readings of windows came in: `kymo query --raw`.
struct PayloadListing {
    private let reader: StoreReader
    private let archive: ArchiveOptions
    private let types: [MeasurementType]
    private let sources: [Int: String]
    /// Those whose payloads are asked for; nil for all.
    private let wanted: Set<Int>?

    /// Those of `reader` for what `archive` asks.
    init(_ reader: StoreReader, _ archive: ArchiveOptions) throws {
        (self.reader, self.archive) = (reader, archive)
        (types, sources) = try StandardError.translating { () throws(PipelineError) in
            (try reader.types(), try reader.sourceNames())
        }
        wanted = try archive.filter(reader).sources
    }

    /// Prints those of `windows`, whose Observations `selected` has chosen.
    func write(_ windows: [ArchivedWindow], _ selected: borrowing SelectedWindows, isTable: Bool) throws {
        let keeps = try StandardError.translating { () throws(PipelineError) in try reader.hasPayloads() }
        guard keeps else {
            return StandardError.write(
                "kymo: this store has no payloads as they came: store.keepRaw says for how long they are kept\n")
        }
        var table = TextTable(["received", "source", "type", "device", "patient", "readings", "payload"])
        // Only ids need to know what Observations are written.
        var encoder = try archive.finder(reader)
        for window in windows {
            let spans = try spans(window, selected, &encoder)
            try forEach(of: window, in: spans) { payload in
                if isTable { return table.add(row(payload, of: window)) }
                try StandardOutput.write(line(payload, of: window))
            }
        }
        if isTable { try StandardOutput.write(table.bytes) }
    }

    /// The times of the readings that are asked for, the ends of each span among them.
    private func spans(
        _ window: ArchivedWindow, _ selected: borrowing SelectedWindows, _ encoder: inout ArchiveEncoder?
    ) throws -> [ClosedRange<Instant>] {
        guard encoder != nil else { return [.distantPast ... .distantFuture] }
        let parts = encoder?.parts(of: window) ?? []
        return parts.filter { selected.isWanted($0.resource) }.map { $0.first...$0.last }
    }

    private func forEach(
        of window: ArchivedWindow, in spans: [ClosedRange<Instant>], _ body: (KeptPayload) throws -> Void
    ) throws {
        let (from, to) = (archive.span.from?.instant ?? .distantPast, archive.span.to?.instant ?? .distantFuture)
        var failure: (any Error)?
        let isWhole = try StandardError.translating { () throws(PipelineError) in
            try reader.forEachPayload(
                of: window, where: { time in time >= from && time < to && spans.contains { $0.contains(time) } },
                types: types
            ) { payload in
                guard wanted?.contains(payload.source) ?? true else { return true }
                do { try body(payload) } catch { failure = error }
                return failure == nil
            }
        }
        if let failure { throw failure }
        guard !isWhole else { return }
        let device = String(decoding: window.series.device, as: UTF8.self)
        StandardError.write(
            "kymo: payloads of the window of \(device) at \(window.start.text) are damaged and left out\n")
    }

    private func name(of source: Int) -> String { sources[source] ?? "" }

    private func row(_ payload: KeptPayload, of window: ArchivedWindow) -> [String] {
        [
            payload.received.text, name(of: payload.source), types[window.series.type].name,
            String(decoding: window.series.device, as: UTF8.self),
            window.series.patient.map { String(decoding: $0, as: UTF8.self) } ?? "", "\(payload.readings.count)",
            String(decoding: payload.bytes, as: UTF8.self),
        ]
    }

    private func line(_ payload: KeptPayload, of window: ArchivedWindow) -> [UInt8] {
        var writer = ByteWriter(capacity: 512 + payload.bytes.count)
        writer.append("{\"type\":\"")
        writer.appendJSON(types[window.series.type].name)
        append(",\"device\":", window.series.device, to: &writer)
        append(",\"patient\":", window.series.patient, to: &writer)
        append(",\"encounter\":", window.series.encounter, to: &writer)
        writer.append("\",\"window\":\"")
        writer.append(window.start)
        writer.append("\",\"received\":\"")
        writer.append(payload.received)
        append(",\"source\":", Array(name(of: payload.source).utf8), to: &writer)
        writer.append("\",\"readings\":[")
        for (index, time) in payload.readings.enumerated() {
            writer.append(index == 0 ? "\"" : ",\"")
            writer.append(time)
            writer.append("\"")
        }
        writer.append("],")
        append(payload.bytes, to: &writer)
        writer.append("}\n")
        return writer.view.array
    }

    /// A member after a text that is still open.
    private func append(_ name: StaticString, _ text: [UInt8]?, to writer: inout ByteWriter) {
        guard let text else { return }
        writer.append("\"")
        writer.append(name)
        writer.append("\"")
        writer.appendJSON(text)
    }

    /// The bytes as text, or else in base64.
    private func append(_ bytes: [UInt8], to writer: inout ByteWriter) {
        if bytes.withByteView({ $0.isUTF8 }) {
            writer.append("\"payload\":\"")
            writer.appendJSON(bytes)
        } else {
            writer.append("\"base64\":\"")
            bytes.withByteView { writer.append(base64: $0) }
        }
        writer.append("\"")
    }
}
