import Testing

/// The library offers what is listed, and nothing else.
@Suite struct PublicSurfaceTests {
    @Test func nothingElseIsPublic() throws {
        let files = try SourceTree.sources().filter { file in
            ["Sources/Kymograph/", "Sources/KymographCore/"].contains { file.path.hasPrefix($0) }
        }
        let declared = PublicSurface.declared(files).split(separator: "\n")
        let promised = PublicSurface.promised.replacing("\n    ", with: " ").split(separator: "\n")
        let added = declared.filter { !promised.contains($0) }
        let gone = promised.filter { !declared.contains($0) }
        #expect(
            added.isEmpty && gone.isEmpty,
            """
            The public surface has changed. Is each new name one that programs need? Then list it in PublicSurface.swift:
            \(added.joined(separator: "\n"))
            in place of:
            \(gone.joined(separator: "\n"))
            """)
    }

    @Test func findsWhatIsPublic() {
        let text = """
            public import KymographCore
            public struct A: Sendable {
                public package(set) var one: Int
                public let two: Int, three: Int
                var four: Int
                public init() {}
                public static func == (a: A, b: A) -> Bool { true }
                public subscript(a: Int) -> Int { switch a { case 1: 1 default: 2 } }
                public enum B {
                    case x, y(Int, String)
                    case z
                    var c: Int { 1 }
                }
            }
            public protocol P {
                static var d: Int { get }
                func take()
            }
            extension P {
                public func f() { func g() {} }
                package func h() {}
            }
            """
        let declared = PublicSurface.declared([SourceFile(path: "Sources/M/A.swift", text: text)])
        #expect(declared == "A: A .one .two .init .== .subscript B (3 cases) P .d .take .f")
    }
}
