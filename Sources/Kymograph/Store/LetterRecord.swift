import FoundationEssentials
import KymographCore

/// What the letter of a reading that was rejected after mapping keeps beside its normalised measurement: the reading as
/// the journal has it, since the JSON does not say all of it.
struct LetterRecord {
    /// The ``SeriesKey``.
    var series: [UInt8]
    /// A ``JournalRecord``.
    var bytes: [UInt8]

    private struct Members: Decodable {
        var series: Data
        var record: Data

        enum CodingKeys: String, CodingKey {
            case series = "JournalSeries"
            case record = "JournalRecord"
        }
    }

    init(series: [UInt8], bytes: [UInt8]) { (self.series, self.bytes) = (series, bytes) }

    /// Reads what the bytes of a letter say; nil when they have no record.
    init?(letter: [UInt8]) {
        guard let members = try? JSONDecoder().decode(Members.self, from: Data(letter)) else { return nil }
        (series, bytes) = ([UInt8](members.series), [UInt8](members.record))
    }

    /// The number of its type; nil when the record is damaged.
    var type: Int? { series.isEmpty ? nil : series.withByteView { SeriesKey.type(of: $0) } }

    /// The reading; nil when the record is damaged.
    var reading: KymographCore.Measurement? { withReading { reading, _ in reading } }

    /// What `body` makes of the reading and its payload; nil when the record is damaged.
    func withReading<Value>(_ body: (KymographCore.Measurement, ByteView) -> Value) -> Value? {
        bytes.withByteView { bytes in
            guard var reader = JournalReader(bytes), let record = reader.next() else { return nil }
            return body(record.reading, record.payload)
        }
    }

    /// The end of a JSON object that has other members before.
    var members: [UInt8] {
        let (series, record) = (Data(series).base64EncodedString(), Data(bytes).base64EncodedString())
        return Array(",\"JournalSeries\":\"\(series)\",\"JournalRecord\":\"\(record)\"}".utf8)
    }
}
