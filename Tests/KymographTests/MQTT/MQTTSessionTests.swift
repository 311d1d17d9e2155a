import CommandSupport
import Glibc
@testable import Kymograph
import KymographCore
import Testing

/// What a client sends when, and what the answers mean.
@Suite struct MQTTSessionTests {
    private func settings(_ change: (inout MQTTSettings) -> Void = { _ in }) throws -> MQTTSettings {
        var settings = MQTTSettings()
        settings.topics = [try TopicFilter(parsing: "w/{device}")]
        change(&settings)
        return settings
    }

    /// A session whose messages come.
    private func ready(_ change: (inout MQTTSettings) -> Void = { _ in }) throws -> MQTTSession {
        var session = MQTTSession(try settings(change), clientID: "c")
        _ = try session.begin()
        _ = try session.answer(.connack(hasSession: false, code: 0, serverKeepAlive: nil))
        _ = try session.answer(.suback(number: 1, codes: [1]))
        return session
    }

    @Test func theFirstPacket() throws {
        var session = MQTTSession(try settings(), clientID: "c")
        let five: [UInt8] = [
            0x10, 22, 0, 4, 0x4D, 0x51, 0x54, 0x54, 5, 0, 0, 30, 8, 17, 0, 9, 0x3A, 0x80, 33, 8, 0, 0, 1, 0x63,
        ]
        #expect(try session.begin() == five)
        let folder = TemporaryFolder()
        _ = unsafe chmod(folder.write("password", "geheim\n"), 0o600)
        var former = MQTTSession(
            try settings {
                ($0.version, $0.user, $0.passwordFile) = (.v311, "u", folder.file("password"))
                ($0.statusTopic, $0.keepAlive) = ("s", 300_000_000_000)
            }, clientID: "c")
        let three: [UInt8] =
            [0x10, 36, 0, 4, 0x4D, 0x51, 0x54, 0x54, 4, 0xEC, 1, 44, 0, 1, 0x63, 0, 1, 0x73]
            + [0, 7] + Array("offline".utf8) + [0, 1, 0x75, 0, 6] + Array("geheim".utf8)
        #expect(try former.begin() == three)
    }

    /// A password that others can read is not sent, and stands in no message.
    @Test func thePasswordIsSecret() throws {
        let folder = TemporaryFolder()
        _ = unsafe chmod(folder.write("password", "geheim\n"), 0o644)
        var session = MQTTSession(
            try settings { ($0.user, $0.passwordFile) = ("u", folder.file("password")) }, clientID: "c")
        let error = try #require(throws: SecretFault.self) { try session.begin() }
        #expect(error.message.contains("chmod 600") && !error.message.contains("geheim"))
    }

    @Test func subscribing() throws {
        var session = MQTTSession(try settings { $0.statusTopic = "s" }, clientID: "c")
        _ = try session.begin()
        let subscribe = try session.answer(.connack(hasSession: false, code: 0, serverKeepAlive: nil))
        #expect(subscribe == [0x82, 9, 0, 1, 0, 0, 3, 0x77, 0x2F, 0x2B, 0x11])
        #expect(session.age == nil)
        let online = try session.answer(.suback(number: 1, codes: [1]))
        #expect(online == [0x31, 10, 0, 1, 0x73, 0] + Array("online".utf8))
        #expect(session.age == .zero && session.failure == nil && session.takeNotes().isEmpty)
    }

    /// Refusals are told in words, with what to do where there is something.
    @Test(
        arguments: [
            (0x86, "bad user name or password"), (0x87, "not authorized"), (1, "mqttVersion: 3.1.1"),
            (0x84, "mqttVersion: 3.1.1"), (2, "another clientId"), (0x89, "broker busy"), (0xFF, "reason unknown"),
        ] as [(UInt8, String)])
    func refusals(code: UInt8, words: String) throws {
        var session = MQTTSession(try settings(), clientID: "c")
        _ = try session.begin()
        #expect(try session.answer(.connack(hasSession: false, code: code, serverKeepAlive: nil)) == [])
        #expect(session.failure?.contains(words) == true, "\(session.failure ?? "")")
        #expect(session.end().contains(words))
    }

    @Test func refusedSubscriptions() throws {
        var session = MQTTSession(
            try settings { $0.topics += $0.topics }, clientID: "c")
        _ = try session.begin()
        _ = try session.answer(.connack(hasSession: false, code: 0, serverKeepAlive: nil))
        _ = try session.answer(.suback(number: 1, codes: [1, 0x87]))
        #expect(session.failure?.hasPrefix("topics[1] is refused: not authorized") == true)
        var lower = MQTTSession(try settings(), clientID: "c")
        _ = try lower.begin()
        _ = try lower.answer(.connack(hasSession: false, code: 0, serverKeepAlive: nil))
        _ = try lower.answer(.suback(number: 1, codes: [0]))
        #expect(lower.takeNotes().first?.contains("messages can be lost") == true && lower.failure == nil)
    }

    /// Nothing comes before the answer to the connection, and that comes once.
    @Test func theOrderOfPackets() throws {
        var session = MQTTSession(try settings(), clientID: "c")
        _ = try session.begin()
        #expect(throws: MQTTFault.self) { try session.answer(.pingresp) }
        #expect(throws: MQTTFault.self) { try session.answer(.suback(number: 1, codes: [1])) }
        _ = try session.answer(.connack(hasSession: true, code: 0, serverKeepAlive: nil))
        #expect(throws: MQTTFault.self) {
            try session.answer(.connack(hasSession: true, code: 0, serverKeepAlive: nil))
        }
        #expect(throws: MQTTFault.self) { try session.answer(.suback(number: 2, codes: [1])) }
        #expect(throws: MQTTFault.self) { try session.answer(.suback(number: 1, codes: [1, 1])) }
    }

    /// The broker is asked for a sign of life, and anything that comes is one.
    @Test func signsOfLife() throws {
        var session = try ready { $0.keepAlive = 10_000_000_000 }
        var sent: [Int] = []
        for second in 1...12 {
            if session.wait(.seconds(1)) == MQTTOutput.pingreq { sent.append(second) }
            session.noteReceived()
        }
        #expect(sent == [5, 10] && session.failure == nil)
        var seconds = 0
        while session.failure == nil, seconds < 100 {
            _ = session.wait(.seconds(1))
            seconds += 1
        }
        #expect(seconds == 14, "asked after 3, silent for more than 10 from then on")
        #expect(session.end() == "it gives no sign of life")
    }

    @Test func theBrokersKeepAliveCounts() throws {
        var session = MQTTSession(try settings(), clientID: "c")
        _ = try session.begin()
        _ = try session.answer(.connack(hasSession: false, code: 0, serverKeepAlive: 4))
        _ = try session.answer(.suback(number: 1, codes: [1]))
        #expect(session.wait(.seconds(2)) == MQTTOutput.pingreq)
    }

    @Test func answersInTime() throws {
        var session = MQTTSession(try settings(), clientID: "c")
        _ = try session.begin()
        for _ in 0..<10 { _ = session.wait(.seconds(1)) }
        #expect(session.failure == nil)
        _ = session.wait(.seconds(1))
        #expect(session.failure == "it has not answered for 10 s")
    }

    /// Messages come once the broker has taken the connection, and PUBREL is answered whatever it releases.
    @Test func messagesAndReleases() throws {
        var session = MQTTSession(try settings(), clientID: "c")
        for _ in 0..<2 {
            _ = try session.begin()
            #expect(throws: MQTTFault.self) { try session.checkIsConnected() }
            #expect(throws: MQTTFault.self) { try session.answer(.pubrel(number: 7)) }
            _ = try session.answer(.connack(hasSession: true, code: 0, serverKeepAlive: nil))
            try session.checkIsConnected()
            for _ in 0..<2 { #expect(try session.answer(.pubrel(number: 7)) == [0x70, 2, 0, 7]) }
            _ = session.end()
        }
        #expect(session.takeNotes().isEmpty)
    }

    /// What the broker has forgotten is told, but not of a session that there never was.
    @Test func lostSessions() throws {
        var session = try ready()
        #expect(session.takeNotes().isEmpty)
        _ = session.end()
        _ = try session.begin()
        _ = try session.answer(.connack(hasSession: false, code: 0, serverKeepAlive: nil))
        #expect(session.takeNotes().first?.contains("has not kept the session") == true)
    }

    @Test func clientIds() throws {
        var settings = try settings()
        let one = settings.clientID(of: "mqtt a:1")
        #expect(one == settings.clientID(of: "mqtt a:1") && one != settings.clientID(of: "mqtt b:1"))
        #expect(one.hasPrefix("kymo") && one.utf8.count <= 23 && one.allSatisfy { $0.isLetter || $0.isNumber })
        settings.clientID = "ward 7"
        #expect(settings.clientID(of: "x") == "ward 7")
    }
}
