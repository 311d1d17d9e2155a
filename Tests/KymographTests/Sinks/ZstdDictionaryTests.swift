import CZstd
import Kymograph
import KymographCore
import KymographTestKit
import Testing

@Suite struct ZstdDictionaryTests {
    private let scratch = Scratch()

    /// Documents that differ as single Observations do: ids, devices, times and values.
    private func documents(_ count: Int, seed: UInt64) -> [[UInt8]] {
        var random = SeededGenerator(seed: seed)
        return (0..<count).map { index in
            let id = String(random.next(), radix: 16) + String(random.next(), radix: 16)
            let kind = ["8867-4", "9279-1", "2708-6"][index % 3]
            return Array(
                """
                {"resourceType":"Observation","id":"\(id)","status":"final","category":[{"coding":[{"system":\
                "http://terminology.hl7.org/CodeSystem/observation-category","code":"vital-signs"}]}],"code":{"coding":\
                [{"system":"http://loinc.org","code":"\(kind)"}]},"subject":{"type":"Patient","identifier":{"system":\
                "urn:kymograph:patient","value":"p-\(random.next() % 1000)"}},"effectiveDateTime":"2026-03-01T1\
                \(index % 10):00:00Z","valueQuantity":{"value":\(60 + random.next() % 40),"unit":"beats/min","system":\
                "http://unitsofmeasure.org","code":"/min"}}
                """.utf8)
        }
    }

    @Test func makesOtherDocumentsFarSmaller() throws {
        let dictionary = try #require(ZstdDictionary.train(documents(400, seed: 1), maxBytes: 32 << 10))
        #expect(dictionary.bytes.count <= 32 << 10)
        #expect((32_768...65_535).contains(dictionary.identifier))
        #expect(dictionary.fileName == "kymograph-\(KymographVersion.number)-\(dictionary.identifier).zdict")
        let held = documents(100, seed: 2)
        let plain = held.reduce(0) { $0 + ZstdDictionary.compressedSize($1, with: nil) }
        let small = held.reduce(0) { $0 + ZstdDictionary.compressedSize($1, with: dictionary) }
        #expect(small * 5 <= plain, "\(plain) and \(small)")
    }

    @Test func equalDocumentsGiveEqualDictionaries() throws {
        let first = try #require(ZstdDictionary.train(documents(200, seed: 3), maxBytes: 16 << 10))
        #expect(first == ZstdDictionary.train(documents(200, seed: 3), maxBytes: 16 << 10))
        #expect(first.identifier != ZstdDictionary.train(documents(200, seed: 4), maxBytes: 16 << 10)?.identifier)
    }

    @Test func tooFewDocumentsGiveNone() {
        #expect(ZstdDictionary.train(documents(9, seed: 1), maxBytes: 32 << 10) == nil)
        #expect(ZstdDictionary.train([], maxBytes: 32 << 10) == nil)
    }

    @Test func theSinkWritesWhatTheDictionaryReads() throws {
        let dictionary = try #require(ZstdDictionary.train(documents(200, seed: 5), maxBytes: 32 << 10))
        var options = RotationOptions()
        options.compression = .zstd()
        options.dictionary = dictionary
        let sink = try RotatingFileSink(directory: scratch.path, options: options)
        let document = documents(1, seed: 6)[0]
        try document.withByteView { try sink.write($0) }
        try sink.close()
        let name = try #require(scratch.names.first { $0.hasSuffix(".ndjson.zst") })
        let frame = Files.read(scratch.file(name))
        #expect(decompress(frame, with: dictionary.bytes) == document + [0x0A])
        #expect(decompress(frame, with: []) == nil)
    }

    private func decompress(_ frame: [UInt8], with dictionary: [UInt8]) -> [UInt8]? {
        let context = unsafe ZSTD_createDCtx()
        defer { unsafe ZSTD_freeDCtx(context) }
        var output = [UInt8](repeating: 0, count: 1 << 20)
        let size = unsafe ZSTD_decompress_usingDict(
            context, &output, output.count, frame, frame.count, dictionary, dictionary.count)
        return ZSTD_isError(size) == 0 ? Array(output[..<size]) : nil
    }

    @Test(arguments: [[], Array("no dictionary, just text".utf8), [0x37, 0xA4, 0x30, 0xEC, 1, 0, 0, 0, 9, 9]])
    func otherFilesAreRefused(content: [UInt8]) {
        #expect(ZstdDictionary(bytes: content) == nil)
        Files.write(scratch.file("d"), content)
        #expect(throws: SinkError.self) { try ZstdDictionary(path: scratch.file("d")) }
        #expect(throws: SinkError.self) { try ZstdDictionary(path: scratch.file("none")) }
    }
}
