@testable import Kymograph
import KymographCore
import Testing

/// Signatures of Standard Webhooks.
@Suite struct WebhookSignatureTests {
    /// The example of the specification's reference libraries, of which `openssl dgst -mac HMAC` says the same.
    @Test func theSpecificationsExample() throws {
        let key = try #require(WebhookSignature.key("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
        let signature = try #require(
            WebhookSignature(
                id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: "1614265330",
                signatures: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="))
        let body = Array("{\"test\": 2432232314}".utf8)
        #expect(signature.isValid(for: signature.message(body[...]), key: key))
        #expect(!signature.isValid(for: signature.message(body.dropLast()), key: key))
        #expect(!signature.isValid(for: signature.message(body[...]), key: Array(key.dropLast())))
    }

    private static let code = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="

    /// Without a signature that could be right, no body is waited for.
    @Test(arguments: ["", "v1,", "v1,x", "v1,AAAA", "v1a,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", "g0hM9SsE"])
    func noCodes(text: String) {
        #expect(WebhookSignature(id: "a", timestamp: "1614265330", signatures: text) == nil)
    }

    /// Five minutes either way, and not a second more.
    @Test(arguments: [(-301, false), (-300, true), (0, true), (300, true), (301, false)])
    func times(offset: Int64, isTimely: Bool) throws {
        let signature = try #require(WebhookSignature(id: "a", timestamp: "1614265330", signatures: Self.code))
        #expect(signature.isTimely(at: Instant(nanoseconds: (1_614_265_330 + offset) * 1_000_000_000)) == isTimely)
    }

    @Test(arguments: ["", "+1", "-1", "1 ", "0x1", "1e3", "16142653301234"]) func noTimes(text: String) {
        #expect(WebhookSignature(id: "a", timestamp: text, signatures: Self.code) == nil)
    }
}
