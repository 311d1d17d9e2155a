@testable import Kymograph
import KymographCore
import Testing

/// Connection strings of event hubs: each key, and what is wrong without telling what is secret.
@Suite struct ConnectionStringTests {
    private static let secret = "p8Zq0Jb4T1xkqV2mQ9sYw7rC3nD5fG6hL0aB1cE2dF4="
    private static let usual = "SharedAccessKeyName=send;SharedAccessKey=\(secret);EntityPath=vitals"

    private func read(_ text: String) throws -> ConnectionString { try ConnectionString(text) }

    private func fault(_ text: String) -> String? {
        do throws(ConnectionString.Fault) {
            _ = try ConnectionString(text)
            return nil
        } catch {
            return error.description
        }
    }

    @Test func asThePortalGivesIt() throws {
        let string = try read("Endpoint=sb://ward.servicebus.windows.net/;\(Self.usual)")
        #expect(string.endpoint == "https://ward.servicebus.windows.net")
        #expect(string.entityPath == "vitals" && string.timeout == nil)
        #expect(string.proof == .key(policy: "send", key: Self.secret), "a value ends at the semicolon, not at =")
    }

    @Test(arguments: [
        "ENDPOINT=SB://Ward.servicebus.windows.net;sharedaccesskeyname=send;SHAREDACCESSKEY=\(secret)",
        "SharedAccessKey=\(secret);Endpoint=amqps://ward.servicebus.windows.net///;SharedAccessKeyName=send;",
        "Endpoint=https://ward.servicebus.windows.net;OperationTimeout=2.5;TransportType=HTTPS;\(usual)",
    ])
    func anyCaseAndOrder(text: String) throws {
        let string = try read(text)
        #expect(string.endpoint == "https://ward.servicebus.windows.net")
        #expect(string.proof == .key(policy: "send", key: Self.secret))
        #expect(string.timeout == (text.contains("Timeout") ? 2_500 : nil))
    }

    @Test(arguments: ["SharedAccessSignature sr=a&sig=b&se=1&skn=c", "sr=a&sig=b&se=1&skn=c"])
    func aSignatureInPlaceOfAKey(value: String) throws {
        let string = try read("Endpoint=sb://ward.example;SharedAccessSignature=\(value)")
        #expect(string.proof == .signature("SharedAccessSignature sr=a&sig=b&se=1&skn=c"))
        #expect(string.entityPath == nil)
    }

    /// Plain HTTP goes to this machine only.
    @Test func unencrypted() throws {
        #expect(try read("Endpoint=http://127.0.0.1:8080/;\(Self.usual)").endpoint == "http://127.0.0.1:8080")
        #expect(fault("Endpoint=http://ward.example/;\(Self.usual)")?.contains("not encrypted") == true)
    }

    private static let wrong: [(String, String)] = [
        ("", "empty"), (";", "empty"), ("Endpoint", "KEY=VALUE"), ("Endpoint=;\(usual)", "no value for Endpoint"),
        (usual, "no Endpoint"), ("Endpoint=sb://a;;\(usual)", "KEY=VALUE"),
        ("Endpoint=sb://a;\(secret)", "unknown key"), ("Endpoint=sb://a;Entity=x;\(usual)", "unknown key 'Entity'"),
        ("Endpoint=sb://a;Endpoint=sb://b;\(usual)", "Endpoint twice"),
        ("Endpoint=sb://a;SharedAccessKeyName=send", "no SharedAccessKey"),
        ("Endpoint=sb://a;SharedAccessKey=\(secret)", "no SharedAccessKeyName"),
        ("Endpoint=sb://a;EntityPath=x", "neither"),
        ("Endpoint=sb://a;SharedAccessSignature=\(secret);\(usual)", "besides a key"),
        ("Endpoint=sb://a;SharedAccessSignature=\(secret);SharedAccessKeyName=send", "besides a key"),
        ("Endpoint=sb://a;TransportType=Amqp;\(usual)", "TransportType"),
        ("Endpoint=sb://a;OperationTimeout=soon;\(usual)", "OperationTimeout"),
        ("Endpoint=sb://a;OperationTimeout=0;\(usual)", "OperationTimeout"),
        ("Endpoint=sb://a;OperationTimeout=nan;\(usual)", "OperationTimeout"),
        ("Endpoint=ftp://a;\(usual)", "Endpoint"), ("Endpoint=sb://a/\(secret);\(usual)", "path"),
        ("Endpoint=sb://send:\(secret)@a/;\(usual)", "Endpoint"),
        ("Endpoint=sb://a;SharedAccessKeyName=send;SharedAccessKey=\(secret);EntityPath=\(secret)/", "EntityPath"),
    ]

    @Test(arguments: wrong) func whatIsWrong(text: String, part: String) throws {
        let message = try #require(fault(text))
        #expect(message.contains(part), "\(message)")
        #expect(!message.contains(Self.secret) && !message.contains(Self.secret.lowercased()), "\(message)")
        #expect(!message.contains(String(Self.secret.dropLast())), "\(message)")
    }
}
