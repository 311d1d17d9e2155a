@testable import Kymograph
import KymographCore
import Testing

/// Which topics a filter matches, and whom they name.
@Suite struct TopicFilterTests {
    /// The device and patient that `filter` finds in `topic`, as `device|patient`; nil when it does not match.
    private func match(_ filter: String, _ topic: String) throws -> String? {
        let filter = try TopicFilter(parsing: filter)
        return Array(topic.utf8).withByteView { bytes in
            filter.match(bytes).map { match in
                [match.device, match.patient].map { $0.map { bytes[$0].string } ?? "-" }.joined(separator: "|")
            }
        }
    }

    /// The examples of MQTT 5.0, section 4.7, and levels that name somebody.
    @Test(
        arguments: [
            ("ward/+/vitals", "ward/7/vitals", "-|-"), ("ward/+/vitals", "ward/7/8/vitals", nil),
            ("ward/+/vitals", "ward//vitals", "-|-"), ("ward/{device}/vitals", "ward//vitals", "|-"),
            ("ward/#", "ward", "-|-"), ("ward/#", "ward/7/8", "-|-"), ("ward/#", "wards", nil), ("#", "a/b", "-|-"),
            ("+", "a", "-|-"), ("+", "/a", nil), ("/+", "/a", "-|-"), ("+/+", "/a", "-|-"), ("a", "a/", nil),
            ("a/", "a", nil), ("#", "$SYS/a", nil), ("+/a", "$SYS/a", nil), ("$SYS/#", "$SYS/a", "-|-"),
            ("{device}/x", "$SYS/x", nil), ("w/{device}/{patient}/#", "w/d7/p 9/x/y", "d7|p 9"),
            ("{patient}/{device}", "p/é", "é|p"), ("$share/g/w/{device}", "w/d7", "d7|-"), ("a/b", "a/B", nil),
        ] as [(String, String, String?)])
    func matches(filter: String, topic: String, names: String?) throws {
        #expect(try match(filter, topic) == names)
    }

    @Test(arguments: [
        "", "a/#/b", "a#", "a+/b", "a/{dev}/b", "a/x{device}", "{device}/{device}", "$share/g", "$share//a",
        "$share/+/a", "a\u{0}b", "a\nb",
    ])
    func refused(text: String) {
        #expect(throws: SettingProblem.self) { try TopicFilter(parsing: text) }
    }

    @Test func whatTheBrokerGets() throws {
        #expect(try TopicFilter(parsing: "w/{device}/+/{patient}/#").subscription == "w/+/+/+/#")
        let shared = try TopicFilter(parsing: "$share/g/w/{device}")
        #expect(shared.subscription == "$share/g/w/+" && shared.isShared)
    }

    /// Of several filters the first counts; who is named by nothing, or by too much, is nobody.
    @Test func senders() throws {
        let filters = ["a/{device}", "a/+", "{patient}/b/c", "{device}/{patient}/d"]
        var senders = TopicSenders(try filters.map { try TopicFilter(parsing: $0) })
        func sender(_ topic: [UInt8]) throws -> TopicSenders.Sender {
            try topic.withByteView { try senders.sender($0) }
        }
        #expect(try sender(Array("a/7".utf8)) == .named(device: 2..<3, patient: nil))
        #expect(try sender(Array("a/7".utf8)) == .named(device: 2..<3, patient: nil), "the same again")
        #expect(try sender(Array("p/b/c".utf8)) == .named(device: nil, patient: 0..<1))
        #expect(try sender(Array("x".utf8)) == .refused(.topicNotSubscribed))
        #expect(try sender(Array("a/".utf8)) == .refused(.noDevice))
        #expect(try sender(Array("/b/c".utf8)) == .refused(.noPatient))
        #expect(try sender(Array("d7//d".utf8)) == .refused(.noPatient))
        #expect(try sender(Array("//d".utf8)) == .refused(.noDevice), "the device comes first")
        #expect(try sender(Array("a/\u{1}".utf8)) == .refused(.invalidIdentifier))
        #expect(try sender(Array("a/\(String(repeating: "d", count: 1_025))".utf8)) == .refused(.valueTooLong))
        for bytes: [UInt8] in [[0x61, 0xFF], [0x61, 0], Array("a/+".utf8), Array("#".utf8)] {
            #expect(throws: MQTTFault.self) { try sender(bytes) }
        }
    }
}
