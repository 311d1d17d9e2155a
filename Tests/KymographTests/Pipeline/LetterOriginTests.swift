import Foundation
import GRDB
@testable import Kymograph
import KymographCore
import Testing

/// Which source a letter came from, and which other one its bytes could come to.
@Suite struct LetterOriginTests {
    private func letter(_ source: String, reason: String = "noTemplate", detail: String = "") -> StoredLetter {
        StoredLetter(
            Row([
                "number": 1, "at": 0, "kind": "payload", "reason": reason, "source": source, "replayed": nil,
                "detail": detail, "codec": 0, "key_id": 0, "checksum": 0, "body": Data(),
            ]))
    }

    private func settings(_ sources: [(address: String, name: String?)]) throws -> PipelineSettings {
        var settings = PipelineSettings()
        settings.sources = try sources.map { text, name in
            let address = try #require(IngestKinds.builtIn.address(named: text), "\(text)")
            func made(_ address: some SourceAddress) -> PipelineSettings.Source { PipelineSettings.Source(address) }
            var source = made(address)
            source.statedName = name
            return source
        }
        return settings
    }

    /// Names are compared byte by byte, and one that two sources have says nothing.
    @Test func origins() throws {
        let one = try settings([("udp 127.0.0.1:5757", nil), ("unix /a", "\u{e9}"), ("tcp 127.0.0.1:1", "b")])
        #expect(one.origin(of: letter("udp 127.0.0.1:5757"))?.configuration.address.name == "udp 127.0.0.1:5757")
        #expect(one.origin(of: letter("\u{e9}")) != nil && one.origin(of: letter("e\u{301}")) == nil)
        for name in ["unix /a", "tcp 127.0.0.1:1", "udp 127.0.0.1:5758", "UDP 127.0.0.1:5757", ""] {
            #expect(one.origin(of: letter(name)) == nil, "\(name)")
            #expect(one.misdirection(of: letter(name)) != nil, "\(name)")
        }
        let two = try settings([("unix /a", "b"), ("unix /b", "b")])
        #expect(two.origin(of: letter("b")) == nil && two.misdirection(of: letter("b")) != nil)
    }

    /// What is sent to all addresses of a port comes to the source that has one of them.
    @Test(arguments: [
        ("udp 0.0.0.0:5757", "udp 127.0.0.1:5757", true), ("tcp [::]:5757", "tcp 127.0.0.1:5757", true),
        ("udp 127.0.0.1:5757", "udp 0.0.0.0:5757", false), ("udp 0.0.0.0:5757", "udp 127.0.0.1:5758", false),
        ("udp 0.0.0.0:5757", "tcp 127.0.0.1:5757", false), ("unix /a", "unix /b", false),
    ])
    func nearerSources(own: String, other: String, isNearer: Bool) throws {
        let settings = try settings([(own, nil), (other, "ward-b")])
        let text = settings.misdirection(of: letter(own))
        #expect((text?.contains("ward-b has the port of \(own), too") ?? false) == isNearer, "\(text ?? "nothing")")
        #expect(isNearer || text == nil)
    }

    /// A name that is the address of another source, or of none.
    @Test func namesThatAreAddresses() throws {
        let settings = try settings([
            ("unix /b", "unix /a"), ("unix /c", "unix /c"), ("unix /d", "d"), ("http 127.0.0.1:1", "udp 0.0.0.0:5757"),
            ("udp 0.0.0.0:5757", "ward-b"),
        ])
        // One that nothing can be sent to has the name of what another one listens to.
        #expect(settings.misdirection(of: letter("udp 0.0.0.0:5757"))?.contains("listens elsewhere by now") == true)
        #expect(settings.misdirection(of: letter("unix /a"))?.contains("listens elsewhere by now") == true)
        #expect(settings.misdirection(of: letter("unix /c")) == nil)
        #expect(settings.misdirection(of: letter("d")) == nil)
    }

    /// Standard input has no address that another source could have.
    @Test func standardInput() throws {
        let made = try settings([("unix /a", nil)])
        var stated = made
        stated.sources[0].origins["unix"] = .commandLine("--unix")
        #expect(!stated.isStray("stdin") && !stated.isStray("unix /a"))
        for name in ["stdin ", "Stdin", "descriptor 5", "unix stdin", ""] {
            #expect(stated.isStray(name) && !made.isStray(name), "\(name)")
        }
    }

    /// Which type the details of a letter name.
    @Test func types() {
        let detail = "mapping m, type heartRate, value hr $.hr; sent by 10.0.0.1:1"
        let some = letter("a", reason: "missingValue", detail: detail)
        #expect(some.namesType && some.names(type: "heartRate"))
        #expect(!some.names(type: "heart") && !some.names(type: "rate") && !some.names(type: "steps"))
        #expect(letter("a", reason: "typeNotAllowed", detail: "type steps, mapping m, type steps").names(type: "steps"))
        #expect(!letter("a", detail: detail).namesType)
        #expect(!letter("a", reason: "invalidJSON", detail: "at byte 1").namesType)
    }
}
