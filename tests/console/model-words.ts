/** What the model of the shared system answers to a prompt with `say hostile words`. */
export const hostileWords =
  "<img src=x onerror=alert('model')> [read](javascript:alert(1)) a\u202Eb\u0007 <script>alert('model')</script>";
