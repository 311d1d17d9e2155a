import Foundation
import Testing

/// The style, as a test.
@Suite struct TidyTests {
    @Test func sourcesAreTidy() throws {
        let files = try SourceTree.sources()
        #expect(files.count > 50)
        let complaints = files.flatMap(TidyRules.complaints)
        #expect(complaints.isEmpty, "\(complaints.joined(separator: "\n"))")
    }

    @Test func functionsAreShort() throws {
        let lengths = try SourceTree.sources().flatMap { FunctionLengths.of($0.text) }.map(\.length)
        #expect(lengths.count > 500)
        #expect(FunctionLengths.median(lengths) <= TidyRules.largestMedian)
    }

    @Test func allowedFilesExist() throws {
        let paths = Set(try SourceTree.sources().map(\.path))
        for (path, reason) in TidyRules.unsafeFiles.merging(TidyRules.foundationFiles, uniquingKeysWith: { $0 + $1 }) {
            #expect(paths.contains(path), "\(path)")
            #expect(reason.count > 10, "\(path)")
        }
    }

    @Test func wordsArePlain() throws {
        let (sources, pages) = (try SourceTree.sources(), try SourceTree.pages())
        #expect(sources.count > 50 && pages.count > 10)
        let complaints =
            (sources + pages).flatMap { WordRules.complaints($0, WordRules.everywhere) }
            + pages.flatMap { WordRules.complaints($0, WordRules.pages) }
        #expect(complaints.isEmpty, "\(complaints.joined(separator: "\n"))")
    }

    @Test func readmeMeasuresLittle() throws {
        let readme = try #require(try SourceTree.pages().first { $0.path == "README.md" })
        let section = readme.lines.drop { $0 != "## Measured" }.dropFirst().prefix { !$0.hasPrefix("## ") }
        let rows = section.filter { $0.hasPrefix("| ") }.dropFirst()
        #expect((1...6).contains(rows.count), "\(rows.count) rows")
    }

    @Test func mappingsAreComplete() throws {
        let mappings = try SourceTree.mappings()
        #expect(!mappings.isEmpty)
        for mapping in mappings {
            for file in ["device.json", "fhir.json"] {
                let path = mapping.appendingPathComponent(file).path
                #expect(FileManager.default.fileExists(atPath: path), "\(path)")
            }
            let examples = mapping.appendingPathComponent("examples")
            let names = (try? FileManager.default.contentsOfDirectory(atPath: examples.path)) ?? []
            #expect(names.contains { $0.contains(".in.") }, "\(examples.path)")
        }
    }
}

/// The rules find what they are for.
@Suite struct TidyRuleTests {
    private func complaints(_ text: String, path: String = "Sources/KymographCore/Map/Bad.swift") -> [String] {
        TidyRules.complaints(SourceFile(path: path, text: text))
    }

    @Test func findsWhatIsBad() {
        let long = String(repeating: "x", count: 121)
        let bad = """
            import Foundation
            package import struct Glibc.timeval
            // \(long)
            // TO\u{44}O later
            struct PathUtils {}
            func peek(_ base: UnsafePointer<UInt8>) { unsafe base.pointee }
            """
        let path = "Sources/KymographCore/Map/Bad.swift"
        #expect(
            complaints(bad) == [
                "\(path):3: 124 characters", "\(path):4: TO\u{44}O", "\(path):1: import Foundation",
                "\(path):2: import Glibc.timeval", "\(path):6: unsafe", "\(path):5: a type called PathUtils",
            ])
        #expect(complaints("let a = 1\n", path: "Sources/kymo/StringHelpers.swift").count == 1)
        #expect(complaints(String(repeating: "\n", count: 601)).count == 1)
        #expect(complaints(String(repeating: "\n", count: 600)).isEmpty)
        let body = String(repeating: "    step()\n", count: 71)
        #expect(complaints("func long() {\n\(body)}\n").count == 1)
        #expect(complaints("func long() {\n\(body.dropFirst(11))}\n").isEmpty)
    }

    @Test func findsTablesBesideTheSchema() {
        let bad = "try db.execute(sql: \"CREATE TABLE IF NOT EXISTS t (n)\")\n"
        let path = "Sources/Kymograph/Store/Pause.swift"
        #expect(complaints(bad, path: path) == ["\(path):1: CREATE TABLE"])
        #expect(complaints(bad, path: "Sources/Kymograph/Store/StoreSchema+Version9.swift").isEmpty)
    }

    @Test func findsLoadTimeCodeOnTheHotPath() {
        let path = "Sources/KymographCore/Map/Bad.swift"
        #expect(complaints("import KymographTemplates") == ["\(path):1: import KymographTemplates"])
        #expect(complaints("import KymographCore", path: "Sources/KymographTemplates/Check/Good.swift").isEmpty)
    }

    @Test func letsGoodCodePass() {
        let good = """
            import Synchronization
            /// Not unsafe, and no import Foundation.
            let text = "unsafe { import Foundation"
            let commonplace = 1
            """
        #expect(complaints(good).isEmpty)
        #expect(complaints("unsafe f()", path: "Sources/KymographCore/Memory/Good.swift").isEmpty)
        #expect(complaints("import FoundationEssentials", path: "Sources/Kymograph/Good.swift").isEmpty)
        #expect(complaints("import Foundation", path: "Sources/Kymograph/System/WorkerThread.swift").isEmpty)
    }

    @Test func findsWhatNeedsLocales() {
        let bad = "public import Foundation\nlet zone = TimeZone(identifier: name)\n"
        let path = "Sources/Kymograph/Bad.swift"
        #expect(complaints(bad, path: path) == ["\(path):1: import Foundation", "\(path):2: needs ICU's data"])
    }

    @Test func findsIdentifiersThatAreText() {
        let bad = """
            struct Gap {
                var device: String
                let patients: [String]
                func note(of encounter: inout String?) {}
                var seen: Set<String> = []
                var counts: [String: Int] = [:]
            }
            """
        let path = "Sources/Kymograph/Ledger/Gap.swift"
        #expect(
            complaints(bad, path: path) == [
                "\(path):2: device is a String", "\(path):3: patient is a String", "\(path):4: encounter is a String",
                "\(path):5: a collection by String", "\(path):6: a collection by String",
            ])
        #expect(complaints(bad, path: "Sources/kymo/Gap.swift").isEmpty)
        #expect(complaints("var device: IdentifierText, deviceName: String", path: path).isEmpty)
    }

    @Test func otherTextsAreWhereTheRuleSays() throws {
        let paths = try SourceTree.sources().map(\.path)
        for (prefix, reason) in IdentityRules.otherTexts {
            #expect(paths.contains { $0.hasPrefix(prefix) } && reason.count > 10, "\(prefix)")
        }
    }

    @Test func findsPhrases() {
        let text = """
            // Well begun. It Ends with 65, and peak is 30 MiB (32 may).
            // Weekends with 3 devices, 21 errors, 10 well-known ones, a nobodys list.
            // 1 errors
            """
        let file = SourceFile(path: "docs/bad.md", text: text)
        #expect(
            WordRules.complaints(file, WordRules.everywhere) == [
                "docs/bad.md:1: '(# may)': (budget #)", "docs/bad.md:1: 'ends with #': exits with status #",
                "docs/bad.md:3: '1 errors': 1 error",
            ])
        #expect(WordRules.complaints(file, WordRules.pages).isEmpty)
        for phrase in WordRules.everywhere + WordRules.pages {
            let line = SourceFile(path: "README.md", text: "| " + phrase.found.replacing("#", with: "17") + " |")
            #expect(WordRules.complaints(line, [phrase]).count == 1, "\(phrase.found)")
        }
    }

    @Test func measuresFunctions() {
        let text = ###"""
            struct A {
                func one() -> Int { 1 }
                func three(
                    _ a: Int = f({ 1 }), b: String
                ) throws -> Int where A: B {
                    let braces = "}}} \(a + g("}")) {{"
                    // }
                    return .init(a)
                }
                init?(a: Int) {
                    self.init()
                }
                subscript(a: Int) -> Int {
                    get { 1 }
                    set { }
                }
                var text = ##"""
                    func no() { "
                    """##
                deinit {}
            }
            protocol P {
                func bare()
                func other() -> Int
                init()
            }
            """###
        #expect(FunctionLengths.of(text).map(\.line) == [2, 3, 10, 13, 20])
        #expect(FunctionLengths.of(text).map(\.length) == [1, 3, 1, 2, 1])
        #expect(FunctionLengths.median([1, 2, 9]) == 2)
    }
}
