// Sets the chosen theme before anything is painted.
(function () {
  try {
    var theme = localStorage.getItem("agon.theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch (error) {
    // Storage may be off; then the system decides.
  }
})();
