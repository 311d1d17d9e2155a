import CommandSupport
@testable import Kymograph
import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// Exports of Apple Health, as files and as archives.
@Suite struct AppleHealthStreamTests {
    typealias Export = AppleHealthExport

    private func read(
        _ bytes: [UInt8], seed: UInt64 = 1, cap: Int = 1 << 20, ending: StreamEnding = .ended
    ) throws -> StreamReading {
        var generator = SeededGenerator(seed: Trials.seed(seed))
        return StreamReading(
            try IngestKinds.builtIn.framing("apple-health,patient=\(Export.patient)"), bytes, cap: cap, ending: ending,
            &generator)
    }

    /// What a record becomes, without the members that all have.
    private static func document(_ members: String) -> String {
        "{\"element\":\"Record\",\"patientId\":\"p-0042\",\"deviceId\":\(members)}"
    }

    @Test(arguments: Trials.seeds(20))
    func recordsBecomeDocuments(seed: UInt64) throws {
        let series = """
              <HeartRateVariabilityMetadataList>
               <InstantaneousBeatsPerMinute bpm="66" time="11:33:02,87 AM"/>
              </HeartRateVariabilityMetadataList>

            """
        let metadata = """
              <MetadataEntry key="HKWasUserEntered" value="1"/>
              <MetadataEntry key="note" value="a &gt; b&#10;\u{0B}"/>

            """
        let text = Export.text([
            "<Record type='HKQuantityTypeIdentifierHeartRate' sourceName='A&amp;B &#x201C;Watch&#8221;'\n",
            " unit='count/min' value='62'/>",
            "<Record type=\"t\" sourceName=\"S\" value=\"HKCategoryValueNotApplicable\">\n",
            metadata, series, "</Record>",
            " <ActivitySummary dateComponents=\"2026-08-03\" activeEnergyBurned=\"1\"/>\n",
            "<Record type=\"u\" value=\"007\"/>",
        ])
        let reading = try read(text, seed: seed)
        #expect(
            reading.payloads == [
                Self.document(
                    "\"A&B “Watch”.p-0042\",\"type\":\"HKQuantityTypeIdentifierHeartRate\","
                        + "\"sourceName\":\"A&B “Watch”\",\"unit\":\"count/min\",\"value\":62"),
                Self.document(
                    "\"S.p-0042\",\"type\":\"t\",\"sourceName\":\"S\",\"value\":\"HKCategoryValueNotApplicable\","
                        + "\"metadata\":{\"HKWasUserEntered\":\"1\",\"note\":\"a > b\\n\\u000b\"}"),
                "{\"element\":\"Record\",\"patientId\":\"p-0042\",\"type\":\"u\",\"value\":\"007\"}",
            ])
        #expect(reading.reasons.isEmpty)
    }

    /// A pair of pressures is one reading; a pressure without a pair stays one by itself, behind all others.
    @Test func pairsAreReadOnce() throws {
        let (first, second) = (Export.pressure(120, 80, at: "08:00:00"), Export.pressure(121, 81, at: "08:01:00"))
        let lone = Export.record("BloodPressureSystolic", "140", "mmHg", at: "09:00:00")
        let twin = Export.record("BloodPressureSystolic", "120", "mmHg", at: "08:00:00")
        let reading = try read(Export.text([first.alone, lone, second.alone, twin, first.pair, second.pair]))
        #expect(reading.payloads.count == 4 && reading.reasons.isEmpty)
        for (payload, value) in zip(reading.payloads, ["120", "121"]) {
            #expect(payload.contains("\"element\":\"Correlation\"") && payload.contains("\"value\":\(value)"))
            #expect(payload.contains("\"records\":[{\"element\":\"Record\",\"type\":"))
        }
        #expect(reading.payloads[2].contains("\"value\":120") && reading.payloads[3].contains("\"value\":140"))
    }

    @Test func workoutsHaveTheirStatistics() throws {
        let workout = """
             <Workout workoutActivityType="HKWorkoutActivityTypeRunning" duration="30.5" durationUnit="min"
                sourceName="S">
              <WorkoutEvent type="HKWorkoutEventTypeSegment" date="2026-08-03 10:00:00 +0200" duration="1.5"/>
              <WorkoutStatistics type="HKQuantityTypeIdentifierHeartRate" average="141" minimum="98"
                maximum="166" unit="count/min"/>
             </Workout>

            """
        let reading = try read(Export.text([workout]))
        #expect(
            reading.payloads == [
                #"{"element":"Workout","patientId":"p-0042","deviceId":"S.p-0042","#
                    + #""workoutActivityType":"HKWorkoutActivityTypeRunning","duration":30.5,"durationUnit":"min","#
                    + #""sourceName":"S","statistics":[{"element":"WorkoutStatistics","#
                    + #""type":"HKQuantityTypeIdentifierHeartRate","average":141,"minimum":98,"maximum":166,"#
                    + #""unit":"count/min"}],"events":[{"element":"WorkoutEvent","#
                    + #""type":"HKWorkoutEventTypeSegment","date":"2026-08-03 10:00:00 +0200","duration":1.5,"#
                    + #""dateUtc":"2026-08-03T08:00:00Z"}]}"#
            ])
    }

    /// What is broken is rejected with its bytes, and what follows is read.
    @Test func brokenElementsAreRejectedAlone() throws {
        let good = Export.record("HeartRate", "62", "count/min")
        let broken = [
            "<Record type=\"a\" Health Mate Version=\"2.6\" value=\"1\"/>", "<Record type=\"a\" value=\"&nosuch;\"/>",
            "<Record type=\"a\" value=1/>", "<Record type=\"a\" value=\"1\" value=\"2\"/>",
            "<Record type=\"b\">\n<MetadataEntry key=\"k\"/>\n</Record>",
            "<Record type=\"b\">\n<MetadataEntry key=\"k\" value=\"&#0;\"/>\n</Record>",
            "<Record type=\"c\" value=\"\(String(repeating: "9", count: 3_000))\"/>",
        ]
        let reading = try read(Export.text(broken.flatMap { [good, $0, "\n"] } + [good]), cap: 2_000)
        #expect(reading.payloads.count == broken.count + 1)
        #expect(reading.reasons == Array(repeating: .frameMalformed, count: 6) + [.frameTooLong])
        let bytes = reading.consumer.rejects.map { String(decoding: $0.bytes, as: UTF8.self) }
        #expect(bytes[0] == broken[0] && bytes[2] == broken[2] && bytes[6] == String(broken[6].prefix(2_000)))
        #expect(bytes[4].hasPrefix("<Record type=\"b\">") && bytes[4].hasSuffix("</Record>"))
    }

    /// Of an element without its end, the next one is no part.
    @Test func aMissingEndCostsOneElement() throws {
        let inside = "  <MetadataEntry key=\"k\" value=\"v\"/>\n"
        let whole = Export.record("HeartRate", "62", "count/min", inside: inside)
        let cut = whole.replacing("</Record>", with: "")
        let pair = Export.pressure(120, 80, at: "08:00:00").pair
        let open = pair.replacing("</Correlation>", with: "")
        let workout = "<Workout sourceName=\"S\">\n"
        let reading = try read(Export.text([cut, cut, whole, open, pair, workout, whole, workout, pair]))
        #expect(reading.reasons == Array(repeating: .frameIncomplete, count: 5))
        #expect(reading.payloads.count == 4 && reading.payloads.allSatisfy { !$0.contains("Workout") })
        #expect(reading.payloads.filter { $0.contains("\"value\":62") }.count == 2)
        #expect(
            reading.consumer.rejects.map { String(decoding: $0.bytes, as: UTF8.self) }[0].hasPrefix("<Record type="))
        // A quote that is lost ends with the next tag.
        let unquoted = "<Record type=\"a\" value=\"1/>\n"
        let lost = try read(Export.text([unquoted, whole, "<!-- don't -->", whole]))
        #expect(lost.reasons == [.frameMalformed] && lost.payloads.count == 2)
        // What was taken out is no record.
        let commented = try read(Export.text([whole, "<!-- \(cut) \(whole) - -- > don't -->", whole]))
        #expect(commented.reasons.isEmpty && commented.payloads.count == 2)
        let endless = try read(Export.text([whole, "<!-- ->", whole]))
        #expect(endless.reasons == [.frameIncomplete] && endless.payloads.count == 1)
    }

    /// The file cannot say whose readings these are.
    @Test(arguments: ["patientId", "deviceId", "element", "records", "contents", "events", "deviceParts", "startUtc"])
    func nobodyElseIsNamed(attribute: String) throws {
        let record = Export.record("HeartRate", "62", "count/min")
        let other = record.replacing("value=", with: "\(attribute)=\"p-other\" value=")
        let reading = try read(Export.text([record, other]))
        #expect(reading.payloads.count == 1 && reading.reasons == [.frameMalformed])
    }

    /// Nor can a part of an element, or its metadata, whose keys any program chooses.
    @Test(arguments: ["element", "part", "patientId", "deviceId", "records", "startUtc", "dateUtc"])
    func noPartNamesAnyoneElse(name: String) throws {
        let record = "<Record type=\"t\" \(name)=\"Record\" value=\"1\"/>"
        let parts = [
            "<WorkoutStatistics type=\"t\" \(name)=\"Record\"/>", "<WorkoutEvent type=\"t\" \(name)=\"Record\"/>",
        ]
        let elements =
            ["Food", "BloodPressure"].map {
                "<Correlation type=\"HKCorrelationTypeIdentifier\($0)\">\(record)</Correlation>"
            } + parts.map { "<Workout sourceName=\"S\">\($0)</Workout>" }
        let reading = try read(Export.text(elements))
        #expect(reading.payloads.isEmpty && reading.reasons == Array(repeating: .frameMalformed, count: 4))
        #expect(reading.consumer.rejects.map { String(decoding: $0.bytes, as: UTF8.self) } == elements)
    }

    @Test(arguments: ["element", "part", "patientId", "deviceId", "&#112;atientId"])
    func noMetadataNamesAnyoneElse(key: String) throws {
        let entry = "<MetadataEntry key=\"\(key)\" value=\"Record\"/>"
        let elements = ["Record", "Workout"].map { "<\($0) sourceName=\"S\">\(entry)</\($0)>" }
        let reading = try read(Export.text(elements))
        #expect(reading.payloads.isEmpty && reading.reasons == [.frameMalformed, .frameMalformed])
        #expect(reading.consumer.rejects.map { String(decoding: $0.bytes, as: UTF8.self) } == elements)
    }

    /// No member is there twice; what one element has is no matter to the next one.
    @Test func noKeyOfMetadataComesTwice() throws {
        func record(_ keys: String...) -> String {
            "<Record type=\"t\">" + keys.map { "<MetadataEntry key=\"\($0)\" value=\"1\"/>" }.joined() + "</Record>"
        }
        let reading = try read(Export.text([record("a", "b"), record("a", "&#97;"), record("a", "type")]))
        #expect(reading.payloads.count == 2 && reading.reasons == [.frameMalformed])
        #expect(reading.payloads.allSatisfy { $0.contains("\"metadata\":{\"a\":\"1\",") })
    }

    /// Times come in UTC, too, wherever the phone was when it wrote the export; what is no time with a zone does not.
    @Test func timesAreInUTCToo() throws {
        let record = Export.record("InsulinDelivery", "4", "IU", at: "01:30:00")
        let moved = record.replacing("2026-08-03 01:30:00 +0200", with: "2026-08-02 19:30:00 -0400")
        let times = ["creation", "start", "end"].map { "\"\($0)Utc\":\"2026-08-02T23:30:00Z\"" }.joined(separator: ",")
        let reading = try read(Export.text([record, moved]))
        #expect(reading.payloads.count == 2 && reading.payloads.allSatisfy { $0.contains(times) })
        #expect(reading.payloads[0].contains("\"startDate\":\"2026-08-03 01:30:00 +0200\""))
        let odd = "<Record type=\"t\" startDate=\"2026-08-03 01:30:00\" endDate=\"yesterday\"/>"
        #expect(try read(Export.text([odd])).payloads.allSatisfy { !$0.contains("Utc") })
    }

    /// The device of a record is described anew in its pair.
    @Test func pairsAreKnownWhateverTheirDevice() throws {
        let pressure = Export.pressure(120, 80, at: "08:00:00")
        let reading = try read(Export.text([pressure.alone, pressure.pair.replacing("0x1", with: "0x2")]))
        #expect(reading.payloads.count == 1 && reading.reasons.isEmpty)
    }

    /// What a workout is made of is no part of the whole.
    @Test func onlyTheStatisticsOfTheWholeWorkout() throws {
        let statistics = "<WorkoutStatistics type=\"t\" sum=\"1\"/>"
        let part = "<WorkoutActivity uuid=\"u\">\(statistics)<MetadataEntry key=\"k\" value=\"v\"/></WorkoutActivity>"
        let reading = try read(Export.text(["<Workout sourceName=\"S\">\(part)\(statistics)</Workout>"]))
        #expect(
            reading.payloads == [
                #"{"element":"Workout","patientId":"p-0042","deviceId":"S.p-0042","sourceName":"S","#
                    + #""statistics":[{"element":"WorkoutStatistics","type":"t","sum":1}]}"#
            ])
    }

    /// A meal has what it is made of, whose records stand alone as well; those of other correlations are records.
    @Test func mealsAndOtherCorrelations() throws {
        let record = Export.record("DietaryCarbohydrates", "40", "g")
        let food = """
            <Correlation type="HKCorrelationTypeIdentifierFood" sourceName="S">
             <MetadataEntry key="HKFoodType" value="Porridge"/>
             <Record type="HKQuantityTypeIdentifierDietaryCarbohydrates" unit="g" value="40"/>
             <Record type="HKQuantityTypeIdentifierDietaryWater" unit="mL" value="250.5"/>
            </Correlation>

            """
        let other = "<Correlation type=\"HKCorrelationTypeIdentifierOther\">\(record)</Correlation>"
        let reading = try read(Export.text([record, food, other]))
        #expect(reading.payloads.count == 3 && reading.payloads[0] == reading.payloads[2] && reading.reasons.isEmpty)
        #expect(
            reading.payloads[1]
                == #"{"element":"Correlation","patientId":"p-0042","deviceId":"S.p-0042","#
                + #""type":"HKCorrelationTypeIdentifierFood","sourceName":"S","metadata":{"HKFoodType":"Porridge"},"#
                + #""contents":[{"part":"Record","type":"HKQuantityTypeIdentifierDietaryCarbohydrates","unit":"g","#
                + #""value":40},{"part":"Record","type":"HKQuantityTypeIdentifierDietaryWater","unit":"mL","#
                + #""value":250.5}]}"#)
    }

    /// A device comes in its parts, too, whatever its address in the phone was, and with the commas in them.
    @Test(arguments: [
        (
            ", name:Watch, manufacturer:Apple Inc., model:Watch, hardware:Watch6,2, software:9.2&gt;",
            #"{"name":"Watch","manufacturer":"Apple Inc.","model":"Watch","hardware":"Watch6,2","software":"9.2"}"#
        ),
        (
            ", name:A, B &quot;C&quot;, localIdentifier:x:1, creation date:2026-08-03 10:00:00 +0000&gt;",
            #"{"name":"A, B \"C\"","localIdentifier":"x:1"}"#
        ),
        (", name:a, name:b, model:, firmware:1&gt;", #"{"name":"a, name:b","firmware":"1"}"#),
    ])
    func partsOfTheDevice(text: String, parts: String) throws {
        let records = ["0x1", "0x2", "0x2"].enumerated().map { index, address in
            "<Record type=\"t\" device=\"&lt;&lt;HKDevice: \(address)&gt;\(text)\" value=\"\(index)\"/>"
        }
        let reading = try read(Export.text(records + ["<Record type=\"t\" device=\"a watch\"/>"]))
        #expect(reading.reasons.isEmpty && reading.payloads.count == 4)
        for payload in reading.payloads.prefix(3) {
            #expect(payload.hasSuffix(",\"deviceParts\":\(parts)}"), "\(payload)")
        }
        #expect(reading.payloads.last?.contains("deviceParts") == false)
    }

    @Test(arguments: ["<ClinicalDocument/>", "PK\u{5}\u{6}", "date,value\n1,2\n", "<HealthDat"])
    func whatIsNoExportIsRejected(text: String) throws {
        let reading = try read(Array(text.utf8))
        #expect(reading.payloads.isEmpty && reading.reasons == [.frameMalformed])
        // The first lines of a table may be those of an electrocardiogram: a name and a birthday.
        #expect(reading.consumer.rejects.first?.bytes == (text.contains(",") ? [] : Array(text.utf8)))
    }

    /// Wherever a file ends before its end, that is told, and what was whole is there.
    @Test func aCutFileIsTold() throws {
        let records = (0..<3).map { Export.record("HeartRate", "\(60 + $0)", "count/min", at: "10:00:0\($0)") }
        let text = Export.text(records)
        let whole = try read(text).payloads
        let start = try #require(text.firstRange(of: Array("<HealthData".utf8))).lowerBound
        for count in start + 11..<text.count - 14 {
            let reading = try read(Array(text.prefix(count)), seed: UInt64(count))
            #expect(reading.reasons == [.frameIncomplete] && whole.starts(with: reading.payloads), "\(count)")
        }
        let stopped = try read(Array(text.dropLast(20)), ending: .cut(.shutdown))
        #expect(stopped.reasons == [.shutdown])
    }

    // MARK: Archives

    /// The archive that the Health app writes has other files, of which nothing is read.
    private func archive(_ sizes: ZipArchive.Sizes, _ text: [UInt8]) throws -> [UInt8] {
        let other = Array(
            "<?xml version=\"1.0\"?>\n<ClinicalDocument><Record type=\"x\" value=\"1\"/></ClinicalDocument>".utf8)
        let files = [
            ("apple_health_export/export_cda.xml", other), ("apple_health_export/Exportieren.xml", text),
            ("apple_health_export/electrocardiograms/ecg.csv", Array("Name,Synthetic\n".utf8)),
        ]
        return ZipArchive.of(try files.map { ($0.0, try #require(GzipBody.compress($0.1))) }, sizes)
    }

    @Test(arguments: ZipArchive.Sizes.allCases, Trials.seeds(10))
    func archivesAreReadAsTheyCome(sizes: ZipArchive.Sizes, seed: UInt64) throws {
        let text = Export.text((0..<2_000).map { Export.record("HeartRate", "\(60 + $0 % 40)", "count/min") })
        let reading = try read(try archive(sizes, text), seed: seed)
        #expect(reading.payloads == (try read(text).payloads) && reading.payloads.count == 2_000)
        #expect(reading.reasons.isEmpty)
    }

    /// One archive behind another, as cat makes of them; folders, and files that are not compressed.
    @Test func archivesBehindEachOther() throws {
        let text = Export.text([Export.record("HeartRate", "62", "count/min")])
        let stored = ZipArchive.ofStored([("folder/", []), ("folder/export.xml", text)])
        for sizes in ZipArchive.Sizes.allCases {
            let reading = try read(try archive(sizes, text) + stored + archive(sizes, text))
            #expect(reading.payloads.count == 3 && reading.reasons.isEmpty, "\(sizes)")
        }
        let behind = try read(stored + Array("what is this?".utf8))
        #expect(behind.payloads.count == 1 && behind.reasons == [.compressedInput])
        #expect(try read(ZipArchive.ofStored([("a.txt", Array("a".utf8))])).reasons == [.frameMalformed])
    }

    /// Wherever an archive is cut or a byte of it is wrong, either nothing is different, or something is rejected.
    @Test(arguments: ZipArchive.Sizes.allCases)
    func aDamagedArchiveIsTold(sizes: ZipArchive.Sizes) throws {
        let text = Export.text((0..<20).map { Export.record("HeartRate", "\(60 + $0)", "count/min") })
        let whole = try archive(sizes, text)
        let payloads = try read(text).payloads
        // What follows is the directory.
        let directory = try #require((0..<whole.count).last { whole[$0...].starts(with: [0x50, 0x4B, 1, 2]) })
        for count in 4..<directory {
            let reading = try read(Array(whole.prefix(count)), seed: UInt64(count))
            #expect(reading.reasons.last == .compressedInput, "\(count)")
            var damaged = whole
            damaged[count] ^= 0x10
            let other = try read(damaged, seed: UInt64(count))
            #expect(other.payloads == payloads || !other.reasons.isEmpty, "\(count)")
        }
    }

    @Test(arguments: ["apple-health", "apple-health,patient=", "apple-health,device=a", "apple-health,patient= "])
    func whoseItIsMustBeSaid(framing: String) {
        #expect(throws: SettingProblem.self) { try IngestKinds.builtIn.framing(framing) }
    }

    /// Attributes are compared with each other, so that a tag has only so many.
    @Test func attributesAreBounded() throws {
        func text(_ count: Int) -> [UInt8] {
            let attributes = (0..<count).map { "a\($0)='1'" }.joined(separator: " ")
            return Array("<HealthData><Record type='t' \(attributes)/></HealthData>".utf8)
        }
        let most = try read(text(255))
        #expect(most.payloads.count == 1 && most.reasons.isEmpty)
        let more = try read(text(256))
        #expect(more.payloads.isEmpty && more.reasons == [.frameMalformed])
    }
}
