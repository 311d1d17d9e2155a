import CCurl

/// What libcurl calls its errors.
enum CurlText {
    /// Loads libcurl, if it was not before; gives what is in the way of using it, if anything.
    static var loadingProblem: String? {
        // Safe: a C string that lives on.
        unsafe kymo_curl_load().map { unsafe String(cString: $0) }
    }

    /// `Couldn't connect to server`, and so on.
    static func of(_ code: CURLcode) -> String {
        // Safe: never null, and immortal.
        unsafe String(cString: kymo_curl_easy_text(code))
    }

    /// As for transfers, for sets of them.
    static func of(_ code: CURLMcode) -> String {
        // Safe: never null, and immortal.
        unsafe String(cString: kymo_curl_multi_text(code))
    }
}
