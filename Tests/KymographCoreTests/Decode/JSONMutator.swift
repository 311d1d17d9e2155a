/// Makes documents that are almost JSON, by a seeded choice of edits.
struct JSONMutator {
    var random: WindowRandom

    static let seeds: [[UInt8]] = [
        #"{"deviceId":"d-1","type":"hr","timestamp":"2021-07-13T17:29:01.061Z","value":72}"#,
        #"{"Body":{"heartRate":"60","device":"abc"},"Properties":{},"SystemProperties":{"x":1.5e-3}}"#,
        #"[{"a":1},{"a":2.50},{"a":-0.1e+10},[],{},[[]],null,true,false]"#,
        #"{"text":"\u00e9\n\t\"\\\/ é€😀 \ud83d\ude00","n":[0,-0,10,1E5]}"#,
        " { \"a\" : [ 1 , 2 , { \"b\" : \"c\" } ] , \"d\" : { } } ",
        #"{"a":1,"a":2,"b":{"c":1,"c":2}}"#, #""a string alone""#, "-12.5e3", "true", "[]", "{}", "null",
    ].map { Array($0.utf8) }

    private static let tokens: [[UInt8]] =
        [
            "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "\\ud800", "\\udc00", "\\n", "0", "1", "-", "+", ".", "e",
            "E5",
            "true", "false", "null", " ", "\n", "\t", "\u{7F}", "é", "😀", "\"a\":", "[[", "]]", "{}", "\"\"", "//",
        ].map { Array($0.utf8) } + [[0], [0x1F], [0x80], [0xC0], [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xFF]]

    /// A seed document after one to four edits.
    mutating func next() -> [UInt8] {
        var document = JSONMutator.seeds[random.int(0...JSONMutator.seeds.count - 1)]
        for _ in 0..<random.int(1...4) { edit(&document) }
        return document
    }

    private mutating func edit(_ document: inout [UInt8]) {
        let place = random.int(0...document.count)
        switch random.int(0...5) {
        case 0: document.insert(contentsOf: token(), at: place)
        case 1 where place < document.count: document.remove(at: place)
        case 2 where place < document.count: document[place] = UInt8(random.int(0...255))
        case 3: document.removeSubrange(place...)
        case 4:
            let end = random.int(place...document.count)
            document.insert(contentsOf: document[place..<end], at: random.int(0...document.count))
        default:
            let end = min(document.count, place + random.int(0...4))
            document.replaceSubrange(place..<end, with: token())
        }
    }

    private mutating func token() -> [UInt8] { JSONMutator.tokens[random.int(0...JSONMutator.tokens.count - 1)] }
}
