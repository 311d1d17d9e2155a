import CommandSupport
@testable import Kymograph
import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// Electrocardiograms of an export of Apple Health: files of their own, alone and in archives.
@Suite struct AppleHealthRecordingTests {
    typealias Export = AppleHealthExport

    private func read(
        _ bytes: [UInt8], seed: UInt64 = 1, cap: Int = 1 << 20, ending: StreamEnding = .ended
    ) throws -> StreamReading {
        var generator = SeededGenerator(seed: Trials.seed(seed))
        return StreamReading(
            try IngestKinds.builtIn.framing("apple-health,patient=\(Export.patient)"), bytes, cap: cap, ending: ending,
            &generator)
    }

    private func read(_ text: String, seed: UInt64 = 1, cap: Int = 1 << 20) throws -> StreamReading {
        try read(Array(text.utf8), seed: seed, cap: cap)
    }

    private static let document =
        #"{"element":"Electrocardiogram","patientId":"p-0042","deviceId":"Watch6,7.p-0042","#
        + #""startDate":"2026-08-03 10:00:00 +0200","startUtc":"2026-08-03T08:00:00Z","#
        + #""classification":"Sinus Rhythm","softwareVersion":"1.90","device":"Watch6,7","lead":"Lead I","#
        + #""unit":"µV","samplesPerSecond":512,"samples":[-265.868,12,0.5]}"#

    @Test(arguments: Trials.seeds(10))
    func oneFileIsOneDocument(seed: UInt64) throws {
        for text in [Export.electrocardiogram(), Export.electrocardiogram().replacing("\n", with: "\r\n")] {
            let reading = try read(text, seed: seed)
            #expect(reading.payloads == [Self.document] && reading.reasons.isEmpty, "\(reading.payloads)")
        }
        // The end of the last line may be missing.
        #expect(try read(String(Export.electrocardiogram().dropLast())).payloads == [Self.document])
    }

    /// Labels, the rate's unit and decimals are in the language of the phone.
    @Test func otherLanguages() throws {
        let german = #"""
            Name,"Muster, Erika"
            Geburtsdatum,"15. Jan. 1990"
            Aufzeichnungsdatum,2026-08-03 10:00:00 +0200
            Klassifizierung,Sinusrhythmus
            Symptome,"Schwindel, ""Flattern"""
            Softwareversion,1.90
            Gerät,"Watch6,7"
            Messrate,"511,844\#u{A0}Hertz"


            Ableitung,Ableitung I
            Einheit,μV


            "-265,868"
            12
            0,5

            """#
        let reading = try read(german)
        let payload = try #require(reading.payloads.first)
        #expect(reading.reasons.isEmpty)
        #expect(payload.hasSuffix("\"samplesPerSecond\":511.844,\"samples\":[-265.868,12,0.5]}"))
        #expect(payload.contains(#""classification":"Sinusrhythmus","symptoms":"Schwindel, \"Flattern\"","#))
        #expect(!payload.contains("Erika") && !payload.contains("1990"))
    }

    /// A file that is none of them, or has nothing that could be known, gives no reading.
    @Test(arguments: [
        ("Sample Rate,512 hertz", "Sample Rate,512 kHz"), ("Sample Rate,512 hertz", "Sample Rate,"),
        ("Sample Rate,512 hertz\n", ""), ("Symptoms,\n", ""), ("2026-08-03 10:00:00 +0200", "2026-08-03 10:00:00"),
        ("2026-08-03 10:00:00 +0200", "3 Aug 2026"), ("Symptoms,", "Symptoms,2026-08-03 10:00:00 +0200"),
        ("-265.868", "1,265.868"), ("-265.868", "-265,868"), ("-265.868", "-265.868 µV"), ("-265.868", "NaN"),
        ("-265.868", "-"), ("-265.868", "1e3"), ("12\n", "Name,Synthetic\n"),
        ("-265.868", String(repeating: "9", count: 600)),
    ])
    func brokenFilesAreRejected(text: String, other: String) throws {
        let broken = Export.electrocardiogram().replacing(text, with: other)
        let reading = try read(broken)
        #expect(reading.payloads.isEmpty && reading.reasons == [.frameMalformed], "\(other)")
        // Who it is does not become a letter.
        let bytes = try #require(reading.consumer.rejects.first).bytes
        #expect(!String(decoding: bytes, as: UTF8.self).contains("1990"), "\(other)")
    }

    @Test func cutFilesAreRejected() throws {
        let header = try #require(Export.electrocardiogram().split(separator: "-265").first)
        #expect(try read(String(header)).reasons == [.frameIncomplete])
        let cut = try read(Array(Export.electrocardiogram().utf8), ending: .cut(.shutdown))
        #expect(cut.payloads.isEmpty && cut.reasons == [.shutdown])
        let long = Export.electrocardiogram(voltages: (0..<1_000).map { "\($0)" })
        #expect(try read(long, cap: 2_000).reasons == [.frameTooLong])
        #expect(try read(long, cap: 8_000).payloads.count == 1)
        // What has no time is not known as one, and may have a name all the same.
        let unknown = try read("Name,Synthetic\nDate of Birth,1990\n")
        #expect(unknown.reasons == [.frameMalformed] && unknown.consumer.rejects.first?.bytes == [])
    }

    /// Headers that are not known, from the time on.
    private static let unknownHeaders = [
        ("Unit,µV", "Unit,microvolts"), ("Unit,µV\n", ""), ("Lead,Lead I", "<lead>"),
        ("Symptoms,", "Symptoms,\(String(repeating: "x", count: 600))"),
    ]

    /// What has a time is an electrocardiogram, of which none is passed over in an archive.
    @Test(arguments: unknownHeaders)
    func unknownHeadersAreCounted(text: String, other: String) throws {
        let broken = Export.electrocardiogram(voltages: (0..<30).map { "\($0)" }).replacing(text, with: other)
        let ended = try #require(broken.split(separator: "Lead").first)
        let export = String(decoding: Export.text([Export.record("HeartRate", "62", "count/min")]), as: UTF8.self)
        for broken in [broken, String(ended)] {
            let files = [("a/1.csv", broken), ("a/export.xml", export), ("a/2.csv", broken)]
            let reading = try read(archive(files, .behind))
            #expect(reading.payloads.count == 1 && reading.reasons == [.frameMalformed, .frameMalformed], "\(other)")
            for reject in reading.consumer.rejects {
                #expect(String(decoding: reject.bytes, as: UTF8.self).hasPrefix("Recorded Date,"), "\(other)")
            }
        }
    }

    /// A name may be long, have several lines, or look like something else; no more of it is kept for that.
    @Test(arguments: [
        "\"Synthetic\nPerson\"", "\"Synthetic\n\n\nOther\nPerson\"", String(repeating: "Person ", count: 100),
    ])
    func namesAreNotKept(name: String) throws {
        let whole = Export.electrocardiogram().replacing("Synthetic Person", with: name)
        #expect(try read(whole).payloads == [Self.document])
        for (text, other) in [
            ("12\n", "twelve\n"), ("2026-08-03 10:00:00 +0200", "yesterday"), ("Unit,µV", "Unit,V"),
            ("\"Jan 15, 1990\"", "1990-01-15 00:00:00 +0000"), ("Recorded Date,2026-08-03 10:00:00 +0200\n", ""),
        ] {
            let reading = try read(whole.replacing(text, with: other))
            #expect(reading.payloads.isEmpty && reading.reasons == [.frameMalformed], "\(other)")
            let bytes = String(decoding: try #require(reading.consumer.rejects.first).bytes, as: UTF8.self)
            #expect(!bytes.contains("Person") && !bytes.contains("1990"), "\(other): \(bytes)")
        }
        for count in 1..<whole.utf8.count {
            let cut = try read(Array(whole.utf8.prefix(count)), ending: .cut(.shutdown))
            let bytes = try #require(cut.consumer.rejects.first).bytes
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(cut.reasons == [.shutdown] && !text.contains("Person") && !text.contains("1990"), "\(count)")
        }
    }

    // MARK: Archives

    private func archive(_ files: [(String, String)], _ sizes: ZipArchive.Sizes) throws -> [UInt8] {
        ZipArchive.of(try files.map { ($0.0, try #require(GzipBody.compress(Array($0.1.utf8)))) }, sizes)
    }

    /// Each file ends where it ends, before the records and behind them, and other files are none of it.
    @Test(arguments: ZipArchive.Sizes.allCases, Trials.seeds(2))
    func filesOfAnArchive(sizes: ZipArchive.Sizes, seed: UInt64) throws {
        let voltages = (0..<1_000).map { "\($0 % 700 - 300).\($0 % 9 + 1)" }
        let recording = Export.electrocardiogram(at: "11:00:00", voltages: voltages)
        let export = String(decoding: Export.text([Export.record("HeartRate", "62", "count/min")]), as: UTF8.self)
        // Without the end of their last line.
        let files = [
            ("a/electrocardiograms/ecg_1.csv", String(Export.electrocardiogram().dropLast())),
            ("a/electrocardiograms/ecg_2.csv", String(recording.dropLast())), ("a/export.xml", export),
            ("a/electrocardiograms/ecg_3.csv", Export.electrocardiogram(at: "12:00:00")),
            ("a/workout-routes/route.gpx", "<?xml version=\"1.0\"?>\n<gpx><trk/></gpx>\n"),
            ("a/notes.csv", "when,what\n1,2\n"),
        ]
        let reading = try read(archive(files, sizes), seed: seed)
        #expect(reading.reasons.isEmpty && reading.payloads.count == 4)
        #expect(reading.payloads.map { $0.contains("Electrocardiogram") } == [true, true, false, true])
        #expect(reading.payloads[0] == Self.document)
        #expect(reading.payloads[1].hasSuffix("\"samples\":[\(voltages.joined(separator: ","))]}"))
    }

    /// One that is broken takes no other file with it, and a file of records without its end no recording.
    @Test func brokenFilesOfAnArchive() throws {
        let export = String(decoding: Export.text([Export.record("HeartRate", "62", "count/min")]), as: UTF8.self)
        let files = [
            ("a/1.csv", Export.electrocardiogram().replacing("12\n", with: "twelve\n")), ("a/export.xml", export),
            ("a/2.csv", Export.electrocardiogram()), ("b/export.xml", String(export.dropLast(14))),
            ("a/3.csv", Export.electrocardiogram(at: "12:00:00")),
        ]
        let reading = try read(archive(files, .behind))
        #expect(reading.reasons == [.frameMalformed, .frameIncomplete] && reading.payloads.count == 4)
    }

    /// Good recordings do not hide that the archive has no records.
    @Test(arguments: ["", "<?xml version=\"1.0\"?>\n", "when,what\n1,2\n"])
    func anArchiveWithoutItsRecordsIsTold(export: String) throws {
        for isFirst in [true, false] {
            let files = [("a/export.xml", Array(export.utf8)), ("a/1.csv", Array(Export.electrocardiogram().utf8))]
            let reading = try read(ZipArchive.ofStored(isFirst ? files : files.reversed()))
            #expect(reading.payloads == [Self.document] && reading.reasons == [.frameMalformed])
        }
        let alone = try read(ZipArchive.ofStored([("1.csv", Array(Export.electrocardiogram().utf8))]))
        #expect(alone.payloads == [Self.document] && alone.reasons.isEmpty)
    }

    /// Wherever an archive is cut or a byte of it is wrong, a recording is whole or rejected.
    @Test(arguments: ZipArchive.Sizes.allCases)
    func aDamagedArchiveGivesNoWrongRecording(sizes: ZipArchive.Sizes) throws {
        let whole = try archive([("ecg.csv", Export.electrocardiogram())], sizes)
        let directory = try #require((0..<whole.count).last { whole[$0...].starts(with: [0x50, 0x4B, 1, 2]) })
        for count in 4..<directory {
            let reading = try read(Array(whole.prefix(count)), seed: UInt64(count))
            #expect(reading.reasons.last == .compressedInput && reading.payloads.isEmpty, "\(count)")
            var damaged = whole
            damaged[count] ^= 0x10
            let other = try read(damaged, seed: UInt64(count))
            #expect(other.payloads.allSatisfy { $0 == Self.document }, "\(count)")
            #expect(other.payloads.count == 1 || !other.reasons.isEmpty, "\(count)")
        }
    }
}
