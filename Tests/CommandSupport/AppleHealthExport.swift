import KymographTestKit

/// A synthetic export of Apple Health, with the faults that real ones have.
package enum AppleHealthExport {
    /// Whose export it is; not in it.
    package static let patient = "p-0042"

    /// The beginning, whose declarations (DTD) are broken as those of iOS 16 are.
    package static let beginning = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE HealthData [
        <!-- HealthKit Export Version: 12 -->
        <!ELEMENT HealthData (ExportDate,Me,(Record|Correlation|Workout)*)>
        <!-- Note: Any Records that appear as children of a correlation also appear as top-level records. It's so. -->
        <!ATTLIST VisionPrescription
          type             CDATA #REQUIRED
          <!ATTLIST RightEye
          sphere           CDATA #IMPLIED
        >
        ]>
        <HealthData locale="en_DE">
         <ExportDate value="2026-08-03 23:59:00 +0200"/>
         <Me HKCharacteristicTypeIdentifierDateOfBirth="1990-01-01"
          HKCharacteristicTypeIdentifierBloodType="HKBloodTypeNotSet"/>

        """

    /// The end.
    package static let end = "</HealthData>\n"

    /// A record of `type`, without its prefix, at `time` of 3 August 2026.
    package static func record(
        _ type: String, _ value: String, _ unit: String, at time: String = "10:00:00",
        source: String = "Synthetic Watch",
        inside: String = ""
    ) -> String {
        let tag =
            "<Record type=\"HKQuantityTypeIdentifier\(type)\" sourceName=\"\(source)\" sourceVersion=\"9.2\" "
            + "device=\"&lt;&lt;HKDevice: 0x1&gt;, name:Synthetic Watch&gt;\" unit=\"\(unit)\" "
            + "creationDate=\"2026-08-03 \(time) +0200\" startDate=\"2026-08-03 \(time) +0200\" "
            + "endDate=\"2026-08-03 \(time) +0200\" value=\"\(value)\""
        return inside.isEmpty ? " \(tag)/>\n" : " \(tag)>\n\(inside) </Record>\n"
    }

    /// A blood pressure: two records, which `isAlone` stand alone as well, as in every export.
    package static func pressure(_ systolic: Int, _ diastolic: Int, at time: String) -> (alone: String, pair: String) {
        let records =
            record("BloodPressureSystolic", "\(systolic)", "mmHg", at: time)
            + record("BloodPressureDiastolic", "\(diastolic)", "mmHg", at: time)
        let tag =
            " <Correlation type=\"HKCorrelationTypeIdentifierBloodPressure\" sourceName=\"Synthetic Watch\" "
            + "startDate=\"2026-08-03 \(time) +0200\" endDate=\"2026-08-03 \(time) +0200\">\n"
        return (records, tag + records + " </Correlation>\n")
    }

    /// A file of the folder `electrocardiograms`, as those in public repositories are, with these voltages.
    package static func electrocardiogram(
        at time: String = "10:00:00", voltages: [String] = ["-265.868", "12", "0.5"]
    ) -> String {
        """
        Name,Synthetic Person
        Date of Birth,"Jan 15, 1990"
        Recorded Date,2026-08-03 \(time) +0200
        Classification,Sinus Rhythm
        Symptoms,
        Software Version,1.90
        Device,"Watch6,7"
        Sample Rate,512 hertz


        Lead,Lead I
        Unit,µV


        \(voltages.joined(separator: "\n"))

        """
    }

    /// An export with these elements.
    package static func text(_ elements: [String]) -> [UInt8] { Array((beginning + elements.joined() + end).utf8) }
}

/// A ZIP archive of files that are compressed by deflate (APPNOTE.TXT of PKWARE).
package enum ZipArchive {
    /// What stands behind a file.
    package enum Sizes: CaseIterable, Sendable {
        /// Nothing: the header has checksum and sizes.
        case before
        /// Checksum and sizes of 4 bytes, with their mark.
        case behind
        /// Sizes of 8 bytes, without a mark.
        case behindLong
    }

    /// `gzip` are the files as gzip has them (RFC 1952), whose data and trailers are taken over.
    package static func of(_ files: [(name: String, gzip: [UInt8])], _ sizes: Sizes) -> [UInt8] {
        var archive: [UInt8] = []
        for file in files {
            let (data, trailer) = (file.gzip.dropFirst(10).dropLast(8), Array(file.gzip.suffix(8)))
            let (checksum, length) = (Array(trailer.prefix(4)), Array(trailer.suffix(4)))
            let packed = number(data.count, 4)
            archive += [0x50, 0x4B, 3, 4, 20, 0, sizes == .before ? 0 : 8, 0, 8, 0, 0, 0, 0, 0]
            archive += sizes == .before ? checksum + packed + length : [UInt8](repeating: 0, count: 12)
            archive += number(file.name.utf8.count, 2) + number(0, 2) + Array(file.name.utf8) + data
            switch sizes {
            case .before: break
            case .behind: archive += [0x50, 0x4B, 7, 8] + checksum + packed + length
            case .behindLong: archive += checksum + packed + number(0, 4) + length + number(0, 4)
            }
        }
        return archive + directory
    }

    /// `files` are not compressed; those without content are folders, whose sizes stand behind them.
    package static func ofStored(_ files: [(name: String, content: [UInt8])]) -> [UInt8] {
        var archive: [UInt8] = []
        for file in files {
            let sum = checksum(file.content)
            let size = number(file.content.count, 4)
            archive += [0x50, 0x4B, 3, 4, 20, 0, file.content.isEmpty ? 8 : 0, 0, 0, 0, 0, 0, 0, 0]
            archive += sum + size + size + number(file.name.utf8.count, 2) + number(0, 2) + Array(file.name.utf8)
            archive += file.content.isEmpty ? [UInt8](repeating: 0, count: 12) : file.content
        }
        return archive + directory
    }

    /// A directory with an entry that has a name, and its end, which has a comment.
    private static var directory: [UInt8] {
        let entry =
            [0x50, 0x4B, 1, 2] + [UInt8](repeating: 0, count: 24) + number(4, 2) + [UInt8](repeating: 0, count: 16)
        return entry + Array("name".utf8) + [0x50, 0x4B, 5, 6] + [UInt8](repeating: 0, count: 16) + number(3, 2)
            + Array("end".utf8)
    }

    /// CRC-32 (RFC 1952, section 8), bit by bit.
    private static func checksum(_ bytes: [UInt8]) -> [UInt8] {
        var value: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            value ^= UInt32(byte)
            for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
        }
        return number(Int(~value), 4)
    }

    private static func number(_ value: Int, _ width: Int) -> [UInt8] {
        (0..<width).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}
