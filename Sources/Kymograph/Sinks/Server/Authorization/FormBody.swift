/// The body of a form (`application/x-www-form-urlencoded`).
enum FormBody {
    /// Pairs in order.
    static func encode(_ pairs: [(String, String)]) -> [UInt8] {
        Array(pairs.map { "\(encode($0))=\(encode($1))" }.joined(separator: "&").utf8)
    }

    /// `text` with everything but letters, digits and `-._~` percent-encoded.
    static func encode(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            let scalar = Unicode.Scalar(byte)
            if scalar.isASCII, scalar.properties.isAlphabetic || scalar.properties.numericType != nil {
                encoded.unicodeScalars.append(scalar)
            } else if "-._~".utf8.contains(byte) {
                encoded.unicodeScalars.append(scalar)
            } else {
                encoded += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }
        return encoded
    }
}
