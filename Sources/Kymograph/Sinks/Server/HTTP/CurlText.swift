import CCurl

/// What libcurl calls its errors.
enum CurlText {
    /// `Couldn't connect to server`, and so on.
    static func of(_ code: CURLcode) -> String {
        // Safe: never null, and immortal.
        unsafe String(cString: curl_easy_strerror(code))
    }

    /// As for transfers, for sets of them.
    static func of(_ code: CURLMcode) -> String {
        // Safe: never null, and immortal.
        unsafe String(cString: curl_multi_strerror(code))
    }
}
