@testable import Kymograph
import KymographCore
import KymographTemplates
import Testing

/// Patient maps as files.
@Suite struct PatientsFileTests {
    private let scratch = Scratch()

    private func check(_ text: String, _ name: String = "p.csv") -> (map: PatientMap, errors: [String]) {
        let path = scratch.file(name)
        Files.write(path, Array(text.utf8))
        let (map, errors) = PatientsFile.check(path)
        return (map, errors.map { "\($0.position.line):\($0.position.column): \($0.message)" })
    }

    private func rows(_ map: PatientMap) -> [String] {
        map.all.flatMap { device, periods in
            periods.map { period in
                func text(_ bytes: [UInt8]?) -> String { String(decoding: bytes ?? Array("-".utf8), as: UTF8.self) }
                let from = period.from == .distantPast ? "" : period.from.text
                let to = period.to == .distantFuture ? "" : period.to.text
                return "\(text(device))|\(text(period.patient))|\(text(period.encounter))|\(from)|\(to)"
            }
        }
    }

    @Test func aTable() {
        let (map, errors) = check(
            "\u{FEFF}patient,device,to,from\r\n"
                + "p-1,\"pump \"\"3\"\", left\",,2026-03-01T08:00:00+01:00\r\n\r\n"
                + "p-2,watch,2026-03-01T08:00:00.5Z,\np-3,watch,,2026-03-01T08:00:00.5Z\n")
        #expect(errors == [])
        #expect(
            rows(map) == [
                "pump \"3\", left|p-1|-|2026-03-01T07:00:00Z|", "watch|p-2|-||2026-03-01T08:00:00.500Z",
                "watch|p-3|-|2026-03-01T08:00:00.500Z|",
            ])
    }

    @Test func aList() {
        let (map, errors) = check(
            """
            patients:
              - device: "0123"
                patient: p-1
                encounter: e-1
                from: 2026-03-01T08:00:00+01:00
              - {device: 0456, patient: p-2}

            """, "p.yaml")
        #expect(errors == [])
        #expect(rows(map) == ["0123|p-1|e-1|2026-03-01T07:00:00Z|", "0456|p-2|-||"])
    }

    private func tags(_ map: PatientMap) -> [[String]] {
        map.all.flatMap { $0.periods.map { $0.tags.withByteView(ReadingTags.texts) } }
    }

    /// In a table several are separated by semicolons; a list has them as a text or as a list.
    @Test func tags() {
        let (table, ofTable) = check(
            "device,patient,tags\na,p,\nb,p,consented\nc,p,https://study.example/arms|A;consented;consented\n")
        #expect(ofTable == [] && tags(table) == [[], ["consented"], ["consented", "https://study.example/arms|A"]])
        let (list, ofList) = check(
            """
            patients:
              - {device: a, patient: p}
              - {device: b, patient: p, tags: "a;b"}
              - device: c
                patient: p
                tags: [consented, "urn:x|1"]

            """, "p.yaml")
        #expect(ofList == [] && tags(list) == [[], ["a;b"], ["consented", "urn:x|1"]])
    }

    @Test(arguments: [
        ("d,p,a;\n", "2:5: '' is no tag"), ("d,p,a b|c\n", "2:5: 'a b|c' is no tag"),
        ("d,p,|c\n", "2:5: '|c' is no tag"), ("d,p,x|y|z\n", "2:5: 'x|y|z' is no tag"),
        ("d,p,a\nd,p,b\n", "3:1: the device has other tags at the same time in line 2"),
        ("d,p,a\nd,q,a\n", "3:1: the device has another patient or encounter at the same time in line 2"),
    ])
    func errorsOfTags(_ rows: String, _ first: String) {
        let (map, errors) = check("device,patient,tags\n" + rows)
        #expect(errors == [first] && map.count == 0, "\(errors)")
    }

    @Test func tooManyTags() {
        let many = (0..<30).map { "\($0)" + String(repeating: "x", count: 190) }.joined(separator: ";")
        #expect(check("device,patient,tags\nd,p,\(many)\n").errors == ["2:5: the tags take more than 4096 bytes"])
    }

    @Test(arguments: [
        ("", "1:1: it is empty"),
        ("device,patient\n", "1:1: it has no row behind the header: it may be cut"),
        ("device,patient\nd,p-1", "1:1: its last line has no end: it may be cut"),
        ("device,patient\nd,p,x\n", "2:1: the row has 3 of 2 columns"),
        ("device;patient\nd;p\n", "1:1: the column is not known"),
        ("device,patients\n", "1:8: the column is not known"),
        ("device,patient,device\n", "1:16: the column is there twice"),
        ("device,from\n", "1:1: there is no column 'patient'"),
        ("device,patient\n,p\n", "2:1: there is no device"),
        ("device,patient\nd,\n", "2:3: there is no patient"),
        ("device,patient\nd, p\n", "2:3: the patient begins or ends with a blank"),
        ("device,patient\nd\u{7},p\n", "2:1: the identifier holds a control character"),
        ("device,patient\n\"a\"b,p\n", "2:1: its quotes are not as RFC 4180 has them, or it is too long"),
        ("device,patient,from\nd,p,2026-03-01\n", "2:5: this is no time"),
        ("device,patient,from\nd,p,2026-03-01T08:00:00\n", "2:5: the time has no offset from UTC"),
        (
            "device,patient,from,to\nd,p,2026-03-01T08:00:00Z,2026-03-01T09:00:00+01:00\n",
            "2:1: it ends before it has begun"
        ),
    ])
    func errors(_ text: String, _ first: String) {
        let (map, errors) = check(text)
        #expect(errors.first == first && map.count == 0, "\(errors)")
    }

    @Test(arguments: [
        ("", "1:1: it is empty"), ("peers: []\n", "1:1: patients: expected the key 'patients' alone"),
        ("patients:\n  - device: d\n", "2:13: patients[0].device: there is no patient"),
        ("patients:\n  - patient: p\n", "2:5: patients[0]: no device is named"),
        ("patients:\n  - device: d\n    patent: p\n", "3:5: patients[0]: unknown key 'patent'"),
    ])
    func errorsOfLists(_ text: String, _ first: String) {
        let (_, errors) = check(text, "p.yml")
        #expect(errors.first == first, "\(errors)")
    }

    /// Both lines are named, whichever comes first; what says the same twice is no error.
    @Test func overlaps() {
        let head = "device,patient,encounter,from,to\n"
        let first = "d,p-1,,2026-03-01T08:00:00Z,2026-03-01T10:00:00Z\n"
        let touching = "d,p-2,,2026-03-01T10:00:00Z,\n"
        let other = "d,p-2,,2026-03-01T09:59:59.999999999Z,\n"
        let visit = "d,p-1,e-1,2026-03-01T09:00:00Z,\n"
        let longer = "d,p-1,,2026-03-01T09:00:00Z,2026-03-01T12:00:00Z\n"
        let message = "the device has another patient or encounter at the same time in line"
        #expect(check(head + first + touching).errors == [])
        #expect(check(head + first + other).errors == ["3:1: \(message) 2"])
        #expect(check(head + other + "x,y,,,\n" + first).errors == ["4:1: \(message) 2"])
        #expect(check(head + first + visit).errors == ["3:1: \(message) 2"])
        let (map, errors) = check(head + first + longer)
        #expect(errors == [] && rows(map) == ["d|p-1|-|2026-03-01T08:00:00Z|2026-03-01T12:00:00Z"])
        #expect(check(head + first + longer + "d,p-9,,2026-03-01T11:00:00Z,\n").errors == ["4:1: \(message) 3"])
        #expect(check(head + "d,a,,,\n" + "d,b,,2026-03-01T09:00:00Z,2026-03-01T10:00:00Z\n").errors.count == 1)
    }

    @Test func whatCannotBeRead() {
        let (_, errors) = PatientsFile.check(scratch.file("none.csv"))
        #expect(errors.first?.message == "it cannot be read: No such file or directory", "\(errors)")
    }

    /// The setting says where the error is, and what has no effect is told.
    @Test func settings() {
        Files.write(scratch.file("p.csv"), Array("device,patient\nd,\n".utf8))
        let path = scratch.file("p.csv")
        #expect(
            messages("patients: \(path)\n").contains { $0.contains("\(path):2:3: there is no patient") },
            "\(messages("patients: \(path)\n"))")
        #expect(messages("unmapped: reject\n").contains { $0.contains("it has no effect without a patient map") })
        Files.write(path, Array("device,patient\nd,p\n".utf8))
        let (settings, diagnostics) = load(
            "patients: \(path)\npatientConflict: map\nunmapped: accept\nidentity: strict\n")
        #expect(diagnostics.isEmpty, "\(diagnostics)")
        #expect(settings.patientRules?.map.count == 1)
        #expect(settings.patientPolicy.conflict == .map && settings.patientPolicy.unmapped == .accept)
        #expect(settings.patientPolicy.requiresPatient)
    }

    /// A file with errors leaves the former map in use; changes of the past are counted.
    @Test func readAgain() throws {
        let path = scratch.file("p.csv")
        Files.write(path, Array("device,patient\nd,p-1\n".utf8))
        let book = try PatientsFile.open(path)
        func patient() -> String {
            let map = book.current.map
            return Array("d".utf8).withByteView { device in
                map.period(of: device, at: Instant(seconds: 0)).map {
                    String(decoding: map.patient($0).array, as: UTF8.self)
                }
            } ?? "-"
        }
        Files.write(path, Array("device,patient\nd\n".utf8))
        var told = book.reread(PatientPolicy())
        #expect(told.level == .error && told.text.contains("\(path):2:1: the row has 1 of 2 columns"), "\(told.text)")
        #expect(patient() == "p-1" && book.facts.isRefused && book.facts.reloads.failed == 1 && book.generation == 0)
        Files.write(path, Array("device,patient\nd,p-2\ne,p-3\n".utf8))
        told = book.reread(PatientPolicy())
        #expect(told.level == .warning && told.text.contains("of the past, 2 periods (devices 2)"), "\(told.text)")
        #expect(patient() == "p-2" && !book.facts.isRefused && book.facts.changedPeriods == 2 && book.generation == 1)
        // Two maps before it was somebody's all the time.
        Files.write(path, Array("device,patient,from\ne,p-3,\nd,p-2,2026-03-01T08:00:00Z\n".utf8))
        _ = book.reread(PatientPolicy())
        let before = book.facts.changedPeriods
        Files.write(path, Array("device,patient,from\ne,p-3,\nd,p-9,2026-02-01T08:00:00Z\n".utf8))
        #expect(book.reread(PatientPolicy()).level == .warning && book.facts.changedPeriods > before)
        Files.write(path, Array("device,patient\ne,p-3\n".utf8))
        _ = book.reread(PatientPolicy())
        #expect(patient() == "-" && book.holds(Array("d".utf8)), "it was of one patient at a time, and is")
        for text in [told.text] { #expect(!text.contains("p-2") && !text.contains("'d'")) }
    }

    /// A change is read when the file has stayed the same for two looks.
    @Test func watched() throws {
        let path = scratch.file("p.csv")
        Files.write(path, Array("device,patient\nd,p-1\n".utf8))
        let book = try PatientsFile.open(path)
        #expect(book.look(PatientPolicy()) == nil)
        Files.write(path, Array("device,patient\nd,p-2\nd2,p-3\n".utf8))
        #expect(book.look(PatientPolicy()) == nil && book.generation == 0)
        #expect(book.look(PatientPolicy()) != nil && book.generation == 1)
        #expect(book.look(PatientPolicy()) == nil)
    }
}
