import Testing

@testable import Kymograph

/// The files of the pages, as they are and packed.
@Suite struct ConsoleAssetsTests {
    private func request(_ encodings: [String]) -> ReceivedRequest {
        var request = ReceivedRequest(method: "GET", path: "/console/", minorVersion: 1)
        request.fields = encodings.map { .init(name: "accept-encoding", value: $0) }
        return request
    }

    @Test(arguments: [
        ["gzip"], ["gzip, deflate, br, zstd"], ["br", "deflate, GZIP"], ["gzip;q=0.5"], ["br;q=1, gzip ; q=0.1"],
    ])
    func takesGzip(encodings: [String]) { #expect(ConsoleAssets.takesGzip(request(encodings))) }

    @Test(arguments: [[], [""], ["br"], ["identity"], ["gzip;q=0"], ["gzip; q=0.000, br"], ["xgzip"], ["gzip;q=x"]])
    func takesNone(encodings: [String]) { #expect(!ConsoleAssets.takesGzip(request(encodings))) }

    /// Packed it is the same, and less; what is short stays as it is.
    @Test func packedIsTheSame() throws {
        for path in ["app.js", "style.css", "pages/timeline.js", "icon.svg"] {
            let plain = try ConsoleAssets.reply(path, takesGzip: false)
            let packed = try ConsoleAssets.reply(path, takesGzip: true)
            #expect(plain.contentType == packed.contentType)
            for reply in [plain, packed] { #expect(reply.fields.contains { $0.name == "Vary" }) }
            #expect(!plain.fields.contains { $0.name == "Content-Encoding" })
            guard path != "icon.svg" else {
                #expect(packed.body == plain.body && !packed.fields.contains { $0.name == "Content-Encoding" })
                continue
            }
            #expect(packed.fields.contains { $0.name == "Content-Encoding" && $0.value == "gzip" })
            #expect(packed.body.count * 2 < plain.body.count)
            #expect(packed.body == GzipBody.compress(plain.body))
        }
    }

    @Test func otherPathsHaveNone() {
        for path in ["nothing", "../app.js", "pages"] {
            #expect(throws: ConsoleRefusal.self) { try ConsoleAssets.reply(path, takesGzip: true) }
        }
    }
}
